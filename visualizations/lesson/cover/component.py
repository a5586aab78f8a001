"""`Cover`: lies on a figure until its question is answered or shown, or one lifts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.scripts import script
from visualizations.text import section

HERE = Path(__file__).parent


class Cover(gr.HTML):
    """The cover of the figure in the same `lesson-stage`. question: a page's key."""

    def __init__(self, question: str, **kwargs: Any) -> None:
        super().__init__(
            value={"question": question},
            html_template="<div class='lesson-cover'><p></p><button type='button'></button></div>",
            css_template=(HERE / "cover.css").read_text("utf-8"),
            js_on_load=script(HERE / "cover.js"),
            apply_default_css=False,
            words=section("lesson.cover"),
            elem_classes="lesson-covering",
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
