"""`Report`: a verdict in words, numbers each with its definition, and tables. All of it plain text from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.scripts import script
from visualizations.text import Piece

HERE = Path(__file__).parent


def fact(name: str, value: str, meaning: str) -> dict[str, str]:
    """A number with its definition."""
    return {"name": name, "value": value, "is": meaning}


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[Piece]], *, folded: bool = False) -> dict[str, Any]:
    """A table; the first column names its rows. folded: closed until someone opens it."""
    return {"caption": caption, "head": list(head), "rows": [list(row) for row in rows], "folded": folded}


def report_value(
    verdict: str = "", mood: str = "", facts: Sequence[dict[str, str]] = (), tables: Sequence[dict[str, Any]] = (), note: str = ""
) -> dict[str, Any]:
    """The value of a `Report`. mood: 'faster', 'slower' or '' for all else."""
    return {"verdict": verdict, "mood": mood, "facts": list(facts), "tables": list(tables), "note": note}


class Report(gr.HTML):
    """Shows a `report_value`. Its text reaches the page through `textContent` only."""

    def __init__(self, value: dict[str, Any] | None = None, *, name: str, **kwargs: Any) -> None:
        super().__init__(
            value=value or report_value(),
            html_template=(
                "<section class='rp'><p class='rp-verdict' aria-live='polite'></p><dl class='rp-facts'></dl>"
                "<div class='rp-tables'></div><p class='rp-note'></p></section>"
            ),
            css_template=(HERE / "report.css").read_text("utf-8"),
            js_on_load=script(HERE / "report.js"),
            apply_default_css=False,
            name=name,
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
