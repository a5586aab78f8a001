"""Start the web app: python app.py"""

import os
import sys

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

from specdec.models.catalogue import offer_first
from visualizations.serving.command_line import read_command_line

# Whoever imports this file for `demo` has arguments of its own. Before gradio is imported: a refusal comes at once.
options = read_command_line(sys.argv[1:] if __name__ == "__main__" else [])
for pair in options.pairs:
    offer_first(pair)

from visualizations.demo import build_demo, launch_options
from visualizations.serving.shelf import ModelShelf

if options.cluster is None:
    demo = build_demo(ModelShelf(slots=options.runs))
    if __name__ == "__main__":
        demo.launch(server_port=options.port, **launch_options())
else:
    from visualizations.serving.ray.start import serve_page  # here: Ray is an extra

    serve_page(build_demo, launch_options, options.pairs, options.port, options.cluster)
