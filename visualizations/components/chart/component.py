"""`Chart`: any plotly Figure, drawn by plotly's own script and redrawn in place. It sends nothing to the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gradio as gr
import plotly.graph_objects as go

from visualizations.components.plotly_files import LOADER_JS, serve_plotly
from visualizations.components.scripts import script

HERE = Path(__file__).parent
CHART_CSS = HERE / "chart.css"
FITTED_JS = HERE / "fitted.js"


def embedded(figure: go.Figure) -> dict[str, Any]:
    """A figure as plain JSON data."""
    return json.loads(figure.to_json())


def chart_value(figure: go.Figure | None, said: str = "") -> dict[str, Any]:
    """The value of a `Chart`. said: what the figure shows, for those who can't see it, and below it for all."""
    return {"figure": None if figure is None else embedded(figure), "said": said}


class Chart(gr.HTML):
    """Shows a `chart_value`. name: what a screen reader calls it; empty: what stands there before a figure does."""

    def __init__(self, value: dict[str, Any] | None = None, *, name: str, empty: str, **kwargs: Any) -> None:
        super().__init__(
            value=value or chart_value(None),
            html_template=(
                "<figure class='ch'><p class='ch-empty'></p><div class='ch-plot' role='img'></div>"
                "<figcaption class='ch-said'></figcaption></figure>"
            ),
            css_template=CHART_CSS.read_text("utf-8"),
            js_on_load=script(LOADER_JS, FITTED_JS, HERE / "chart.js"),
            apply_default_css=False,
            name=name,
            empty=empty,
            plotly_js=serve_plotly(),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
