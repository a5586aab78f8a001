"""`SamplingView`: a finished sampling test, replayed on the page from its checkpoints without the server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.plotly_files import LOADER_JS, serve_plotly
from visualizations.components.scripts import script
from visualizations.figures.palette import css_variables
from visualizations.figures.sampling_run import SamplingRun, distances, frequencies
from visualizations.text import Piece, section, t

HERE = Path(__file__).parent
ASKING_JS = HERE.parents[1] / "components" / "asking.js"


def sampling_value(run: SamplingRun, source: str, headline: str, lines: Sequence[str | list[Piece]]) -> dict[str, Any]:
    """The value that shows a test. source: 'bars', 'loop' or 'real', where the tokens came from."""
    figures = [json.loads(figure(run).to_json()) for figure in (frequencies, distances)]
    return {
        "state": "passed" if run.passed else "failed",
        "source": source,
        "headline": headline,
        "lines": list(lines),
        "figures": figures,
        "checkpoints": list(run.checkpoints),
    }


def waiting_value(text: str, state: str = "waiting", source: str = "") -> dict[str, Any]:
    """The value while there is nothing to show: a sentence. state: 'waiting', 'empty' or 'fault'."""
    return {"state": state, "source": source, "headline": text, "lines": [], "figures": [], "checkpoints": []}


class SamplingView(gr.HTML):
    """Shows a `sampling_value`.

    A waiting value with "ask" fires the event that it names, once until there is something else to show:
    `ask_bars`, `ask_loop` or `ask_real`.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            value=waiting_value(t("exact.sampling.empty"), "empty"),
            html_template=(HERE / "sampling_view.html").read_text("utf-8"),
            css_template=css_variables() + (HERE / "sampling_view.css").read_text("utf-8"),
            js_on_load=script(LOADER_JS, ASKING_JS, HERE / "sampling_view.js"),
            apply_default_css=False,
            words=section("exact.sampling"),
            plotly_js=serve_plotly(),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
