"""plotly's own script, from the Python package, and what the page needs to load it and to draw with it."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import plotly

PLOTLY_JS = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
LOADER_JS = Path(__file__).parent / "plotly_loader.js"


def serve_plotly() -> str:
    """Let the app serve the script; the path that a component hands to its page as `plotly_js`."""
    gr.set_static_paths([str(PLOTLY_JS)])  # this file only: a folder would expose all that is in it
    return str(PLOTLY_JS)
