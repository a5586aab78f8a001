"""What a page may ask of the rooms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import gradio as gr

from specdec.settings import BadInput
from visualizations.lesson.room import RoomOver, Rooms, TooOften
from visualizations.text import LANGUAGES, say, spoken

Asked = Mapping[str, Any]


def room_calls(rooms: Rooms, answers: Mapping[str, int]) -> list[Callable[..., Any]]:
    """Server functions of a component: open_room, join_room, cast_vote, read_counts and close_room.

    answers: the number of options of each question. Each takes an object with `code` and, as it needs them, `key`,
    `browser`, `question` and `answer`. A refusal is {"refused": its sentence, "why": "over", "later" or "wrong"}.
    """

    def open_room(asked: Asked, address: str) -> dict[str, Any]:
        return asdict(rooms.open(answers, address))

    def join_room(asked: Asked, address: str) -> dict[str, Any]:
        return {"code": rooms.join(asked.get("code"), asked.get("browser"), address)}

    def cast_vote(asked: Asked, address: str) -> dict[str, Any]:
        vote = (asked.get(name) for name in ("code", "browser", "question", "answer"))
        return {"first": rooms.vote(*vote)}

    def read_counts(asked: Asked, address: str) -> dict[str, Any]:
        return asdict(rooms.counts(asked.get("code"), asked.get("key")))

    def close_room(asked: Asked, address: str) -> dict[str, Any]:
        rooms.close(asked.get("code"), asked.get("key"))
        return {}

    return [_answering(call) for call in (open_room, join_room, cast_vote, read_counts, close_room)]


def _answering(call: Callable[[Asked, str], dict[str, Any]]) -> Callable[..., Any]:
    """A call for Gradio: outside the queue, and a coroutine, since runs under way may hold every thread there is."""

    async def answer(asked: Any, request: gr.Request) -> dict[str, Any]:
        address = request.client.host if request.client else ""
        with spoken(LANGUAGES):
            try:
                return call(asked if isinstance(asked, dict) else {}, address)
            except BadInput as refusal:
                return {"refused": say(refusal.phrase), "why": _why(refusal)}

    answer.__name__ = call.__name__
    return answer


def _why(refusal: BadInput) -> str:
    if isinstance(refusal, RoomOver):
        return "over"
    return "later" if isinstance(refusal, TooOften) else "wrong"
