"""`Question`: asks what a page of the lesson asks, says right or wrong with the reason, and lets one try again.

It dispatches the document's event `specdec:answered` with {question, answer, right}: question is the page's key, and
answer the index of the option or the number. Several numbers are questions "<key>.0", "<key>.1", ... each, and then
"<key>" with how many were right. When the answer is shown unasked it dispatches `specdec:revealed` with {question}.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.scripts import script
from visualizations.figures.palette import css_variables
from visualizations.lesson.page import Blanks, Choice, Page
from visualizations.text import section

HERE = Path(__file__).parent


def question_value(page: Page, following: str | None) -> dict[str, Any]:
    """The value of a `Question`. following: the key of the next page, None on the last."""
    return {
        "key": page.key,
        "task": page.task,
        "reason": page.reason,
        "asked": [asdict(asked) for asked in page.asked],
        "following": following,
        "options": [asdict(option) for option in page.answer.options] if isinstance(page.answer, Choice) else [],
        "blanks": _blanks(page.answer) if isinstance(page.answer, Blanks) else [],
    }


def _blanks(answer: Blanks) -> list[dict[str, Any]]:
    return [asdict(blank) | {"shown": f"{blank.number:.4g}"} for blank in answer.blanks]


class Question(gr.HTML):
    """Shows a `question_value`; nothing of it goes to the server."""

    def __init__(self, page: Page, following: str | None, **kwargs: Any) -> None:
        super().__init__(
            value=question_value(page, following),
            html_template=(HERE / "question.html").read_text("utf-8"),
            css_template=css_variables() + (HERE / "question.css").read_text("utf-8"),
            js_on_load=script(HERE / "choice.js", HERE / "blanks.js", HERE / "question.js"),
            apply_default_css=False,
            words=section("lesson.question"),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
