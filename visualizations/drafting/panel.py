"""What the live parts of this tab share: a figure that the page changes by itself, with choices and a slider."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.chart.component import CHART_CSS, FITTED_JS
from visualizations.components.plotly_files import LOADER_JS, serve_plotly
from visualizations.components.scripts import script
from visualizations.text import section

HERE = Path(__file__).parent
_HTML = """<section class='dp ch'><p class='dp-empty ch-empty'></p><div class='dp-body dp'>
<h4 class='dp-title'></h4><div class='dp-choices'></div><div class='dp-slider'></div><p class='dp-answer' aria-live='polite'></p>
<div class='ch-plot' role='img'></div><p class='dp-note'></p></div></section>"""


class Panel(gr.HTML):
    """A gr.HTML with the containers of `panel.js`. words: a section of the texts; scripts: what is its own."""

    def __init__(self, value: dict[str, Any], *, words: str, scripts: tuple[Path, ...], **kwargs: Any) -> None:
        super().__init__(
            value=value,
            html_template=_HTML,
            css_template=CHART_CSS.read_text("utf-8") + (HERE / "panel.css").read_text("utf-8"),
            js_on_load=script(LOADER_JS, FITTED_JS, HERE / "panel.js", *scripts),
            apply_default_css=False,
            words=section(words),
            plotly_js=serve_plotly(),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
