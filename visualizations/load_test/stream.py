"""The event stream of a run, put together as the page does it."""

from __future__ import annotations

import json
from typing import Any

from gradio_client.utils import apply_diff

from visualizations.load_test.page import Places
from visualizations.text.texts import LANGUAGES, in_language


class RunOnPage:
    """What a page has of the run that it asked for, message by message.

    over: no message will follow. fault: what broke it off, '' for nothing. trace: the whole run, as the page keeps it,
    None before its end. line: the last one; texts: what each round added, as the view shows it. The page asks for a
    round that it misses; here, where no message can be passed over, a missing one is a fault.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._values: list[Any] | None = None
        self.over = False
        self.fault = ""
        self.line: dict[str, Any] = {}
        self.run = ""
        self.texts: list[str] = []
        self.trace: str | None = None

    @property
    def words(self) -> str:
        """The line's sentence in English."""
        return in_language(self.line.get("text", ""), LANGUAGES[0])

    def hear(self, message: dict[str, Any]) -> None:
        """Take in one message of the stream."""
        kind = message.get("msg")
        if kind == "process_generating" and message["success"]:
            self._show(message["output"]["data"])
        elif kind in ("process_generating", "process_completed"):
            self.over = kind == "process_completed"
            if not message["success"]:
                self.fault = f"the event failed: {message['output'].get('error')}"
        elif kind in ("unexpected_error", "server_stopped"):
            self.over, self.fault = True, f"the stream broke off: {message.get('message')}"
        elif kind == "close_stream":
            self.over = True

    def _show(self, data: list[Any]) -> None:
        """The first values are whole; after them come only the changes of each."""
        before = self._values
        self._values = list(data) if before is None else [apply_diff(*pair) for pair in zip(before, data, strict=True)]
        for place, value in enumerate(self._values):
            if place == self._places.view and isinstance(value, str):
                self._grow(json.loads(value))
            elif place == self._places.line and isinstance(value, dict) and "mood" in value:
                self.line = value
            elif isinstance(value, dict) and isinstance(value.get("trace"), str):
                self._keep(value)

    def _grow(self, view: dict[str, Any]) -> None:
        if view["run"] != self.run:
            self.run, self.texts = view["run"], []
        if view["first"] > len(self.texts):
            self.fault = f"rounds {len(self.texts)} to {view['first']} never came"
        self.texts += [round_["text"] for round_ in view["rounds"][len(self.texts) - view["first"] :]]

    def _keep(self, held: dict[str, Any]) -> None:
        self.trace = held["trace"]
        if held["run"] != self.run:
            self.fault = "the run that is kept is not the one on screen"
