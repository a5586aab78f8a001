"""Start the web app: python app.py"""

import os

# Before gradio and the Hub client are imported: the app contacts nobody unless a visitor asks for a model.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

try:
    import spaces  # noqa: F401 - on Hugging Face Spaces it has to come before torch
except ImportError:
    pass

from visualizations.demo import build_demo, launch_options

demo = build_demo()

if __name__ == "__main__":
    demo.launch(**launch_options())
