"""`Folded`: the head of a section with its result in a line, and behind it what is hidden until someone opens it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.scripts import script
from visualizations.text import Piece

HERE = Path(__file__).parent
FOLD_CSS, FOLD_JS = HERE / "fold.css", HERE / "fold.js"


def folded_value(result: Piece | list[Piece] = "", where: str = "") -> dict[str, Any]:
    """The value of a `Folded`. result: what the section came to, in a line; where: what all of its numbers were
    measured with, said once, when it is open."""
    return {"result": result, "where": where}


class Folded(gr.HTML):
    """A section whose head shows a `folded_value`; used as a context, it holds the rest of the section.

    What it holds is on the page from the beginning, without a width until the section is open.
    """

    def __init__(self, title: str, value: dict[str, Any] | None = None, *, elem_id: str, open: bool = False, **kwargs: Any) -> None:
        super().__init__(
            value=value or folded_value(),
            html_template="<div class='fold-head'></div><p class='fold-where'></p>@children",
            css_template=FOLD_CSS.read_text("utf-8") + (HERE / "folded.css").read_text("utf-8"),
            js_on_load=script(FOLD_JS, HERE / "folded.js"),
            apply_default_css=False,
            elem_id=elem_id,
            elem_classes="fold-block",
            title=title,
            section=elem_id,
            begins_open=open,
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}


@contextmanager
def folded(section: str, title: str, value: dict[str, Any] | None = None, *, open: bool = False) -> Iterator[Folded]:
    """The section with this id, in which components are created below each other. Yields its head."""
    with Folded(title, value, elem_id=section, open=open) as head, gr.Column():
        yield head
