"""One line that says what the app is doing, with a bar while something loads."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any, Literal

import gradio as gr

from visualizations.components.scripts import script
from visualizations.text import t

Mood = Literal["quiet", "busy", "done", "fault"]

_HERE = Path(__file__).parent
STEP_SECONDS = 5  # a reader of the screen hears every change
COUNT_SIGN = "{seconds}"
_SCRIPTS = ("connection.js", "asking.js", "status_line.js")


def status(text: str = "", mood: Mood = "quiet", done: float | None = None) -> dict[str, Any]:
    """The value of a `StatusLine`. done: a part in 0..1 that is over, None when unknown."""
    return {"text": text, "mood": mood, "done": done}


def counting_down(words: Callable[[Any], str], seconds: float) -> dict[str, Any]:
    """A busy value whose number of seconds the page itself counts down, in steps. words: what it says of so many."""
    said = status(words(STEP_SECONDS * max(1, ceil(seconds / STEP_SECONDS))), "busy")
    return said | {"count": {"words": words(COUNT_SIGN), "sign": COUNT_SIGN, "seconds": seconds, "step": STEP_SECONDS}}


class StatusLine(gr.HTML):
    """Shows a `status` value. Its text reaches the page as text only, and readers hear it change.

    A value with a true "leave" fires the event `leave`: what still waits in the queue should go. A busy one with
    a true "ask" fires `ask`, once until the line is no longer busy. A line that is busy when the connection to
    the server is lost says so.
    """

    def __init__(self, value: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(
            value=value or status(),
            html_template="<p role='status' aria-live='polite'><span></span><progress max='1' hidden></progress></p>",
            css_template=(_HERE / "status_line.css").read_text("utf-8"),
            js_on_load=script(*(_HERE / name for name in _SCRIPTS)),
            apply_default_css=False,
            lost=t("app.connection_lost"),
            elem_classes="status-line",
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
