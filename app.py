"""Start the web app: python app.py"""

import os

from specdec.models.cores import cores_beside_page

# Before gradio and the Hub client are imported: the app contacts nobody unless a visitor asks for a model.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
# Before torch is loaded: one core stays with the page. torch's threads wait for each other by spinning, and a
# run on all cores became nearly three times slower as soon as it was also drawn.
os.environ.setdefault("OMP_NUM_THREADS", str(cores_beside_page()))

try:
    import spaces  # noqa: F401 - on Hugging Face Spaces it has to come before torch
except ImportError:
    pass

from visualizations.demo import build_demo, launch_options

demo = build_demo()

if __name__ == "__main__":
    demo.launch(**launch_options())
