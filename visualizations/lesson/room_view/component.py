"""`RoomView`: a room of a class, opened by a teacher and joined by students, or raised hands that are typed in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import gradio as gr

from visualizations.components.keeping import MEMORY_JS
from visualizations.components.scripts import script
from visualizations.lesson.room import Rooms
from visualizations.lesson.room_view.calls import room_calls
from visualizations.text import section

_HERE = Path(__file__).parent
_SCRIPTS = ("browser.js", "tally.js", "outbox.js", "room_view.js")


class ClassQuestion(TypedDict):
    """A question of the lesson as a class is asked it. key: its page's, or its page's and a part's ("coin.3")."""

    key: str
    title: str
    options: Sequence[str]


class RoomView(gr.HTML):
    """Asks the server by itself, outside the queue; it has no value, and needs no event.

    Events of the document that it hears: `specdec:lesson-page` {key} says which page is open, `specdec:answered`
    {question, answer: index of the option} is a student's vote, `specdec:room` {code} joins a room. It fires
    `specdec:room-ready` once it hears them, and `specdec:room` {code, or null} when a student joined or left.
    rooms: None where there is no server to ask; hands can be counted there too.
    """

    def __init__(self, questions: Sequence[ClassQuestion], rooms: Rooms | None, **kwargs: Any) -> None:
        answers = {question["key"]: len(question["options"]) for question in questions}
        super().__init__(
            value={},
            html_template=(_HERE / "room_view.html").read_text("utf-8"),
            css_template=(_HERE / "room_view.css").read_text("utf-8"),
            js_on_load=MEMORY_JS + script(*(_HERE / name for name in _SCRIPTS)),
            apply_default_css=False,
            server_functions=room_calls(rooms, answers) if rooms else None,
            served=rooms is not None,
            questions=[dict(question) for question in questions],
            words=section("room"),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}


def build_room(questions: Sequence[ClassQuestion], rooms: Rooms | None) -> RoomView:
    """Create the room below a lesson, inside what is open. questions: those that a class votes on, in their order."""
    return RoomView(questions, rooms, elem_id="room")
