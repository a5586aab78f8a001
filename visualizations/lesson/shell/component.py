"""`LessonShell`: turns the pages of the lesson on the page itself, and keeps in the browser how far one has come.

It listens to the document's event `specdec:lesson` with {page: number from 1, or key} and turns to that page. After
every turn, the first too, it dispatches `specdec:lesson-page` with {page: number from 1, key}. A page's column has the
id `lesson-<key>`; the open one has the class `lesson-current`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import BlockContext

from visualizations.components.model_events import QUIET
from visualizations.components.scripts import script
from visualizations.figures.palette import css_variables
from visualizations.lesson.page import Page
from visualizations.text import section

HERE = Path(__file__).parent
# A column isn't there before its page is opened; from then on it stays.
_REACHED = """({ reached }) => {
  const update = (opens) => ({ ...(opens ? { visible: true } : {}), __type__: "update" });
  return reached.length === 1 ? update(reached[0]) : reached.map(update);
}"""


class LessonShell(gr.HTML):
    """The buttons of the pages, Back and Next. Its value tells which pages have been opened."""

    def __init__(self, lesson: Sequence[Page], **kwargs: Any) -> None:
        super().__init__(
            value={"reached": [False for _ in lesson]},
            html_template=(HERE / "shell.html").read_text("utf-8"),
            css_template=css_variables() + (HERE / "shell.css").read_text("utf-8"),
            js_on_load=script(HERE / "progress.js", HERE / "shell.js"),
            apply_default_css=False,
            pages=[{"key": page.key, "title": page.title} for page in lesson],
            words=section("lesson.shell"),
            **kwargs,
        )

    def opens(self, columns: Sequence[BlockContext]) -> None:
        """Let each of `columns` be made when its page is first opened. They are invisible until then."""
        self.reach(None, self, list(columns), js=_REACHED, trigger_mode="multiple", **QUIET)

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
