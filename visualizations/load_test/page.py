"""What the page of a running app asks of its server, read from the configuration that every browser gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from visualizations.components.settings_form import PAIR_FIELDS, SETTING_FIELDS

_FORM = SETTING_FIELDS + PAIR_FIELDS


class OtherPage(ValueError):
    """The app that answers has not the page that this command knows."""


@dataclass(frozen=True)
class Places:
    """Where in a run's outputs the view of the run and its line stand."""

    view: int
    line: int


class Page:
    """The events of "Step through", and the values that its boxes hold when the page is opened."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._parts = {part["id"]: part for part in config["components"]}
        self._events = [event for event in config["dependencies"] if event["backend_fn"]]
        self._line, self._view, self._prompt, models = map(self._named, ("run-line", "run-view", "prompt", "models-line"))
        self._run = self._event(lambda event: [self._line, "ask"] in event["targets"])
        self._look = self._event(lambda event: models in event["outputs"] and not event["inputs"])
        beside = self._named("beside")
        self._lane = self._event(lambda event: beside in event["inputs"] and event["outputs"] == [self._view])

    @property
    def places(self) -> Places:
        """Of the outputs of `run`."""
        return Places(*(self._run["outputs"].index(part) for part in (self._view, self._line)))

    def run(self, session: str, prompt: str, wish: dict[str, Any], **settings: Any) -> dict[str, Any]:
        """The body with which a press of Run joins the queue. wish: {} for a new run; settings: boxes that were changed."""
        parts = self._run["inputs"]
        values = {part: self._parts[part]["props"].get("value") for part in parts}
        values |= {part: wish for part in parts if self._parts[part]["type"] == "html"}  # all others are boxes
        values |= {self._prompt: prompt}
        values |= {parts[len(parts) - len(_FORM) + _FORM.index(name)]: value for name, value in settings.items()}
        return _body(self._run, session, [values[part] for part in parts], self._line)

    def look(self, session: str) -> dict[str, Any]:
        """The body of what the page asks by itself while models load; it needs none."""
        return _body(self._look, session, [])

    def lane(self, session: str, line: dict[str, Any]) -> dict[str, Any]:
        """The body with which a page asks for plain decoding beside a run that is over. line: its last one."""
        return _body(self._lane, session, [True, line, None])

    def _named(self, name: str) -> int:
        found = [number for number, part in self._parts.items() if part["props"].get("elem_id") == name]
        if len(found) != 1:
            raise OtherPage(f"The page has not one part that is called {name}.")
        return found[0]

    def _event(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        found = [event for event in self._events if fits(event)]
        if len(found) != 1:
            raise OtherPage(f"The page has {len(found)} events where one was expected.")
        return found[0]


def _body(event: dict[str, Any], session: str, data: list[Any], trigger: int | None = None) -> dict[str, Any]:
    return {"fn_index": event["id"], "session_hash": session, "data": data, "event_data": None, "trigger_id": trigger}
