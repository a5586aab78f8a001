"""What a visitor asks the models for: a new run, a branch of the one on screen, or a paused run's next rounds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradio as gr

from specdec.settings import BadInput, Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.components.settings_form import read_form
from visualizations.serving.backend import Backend, Shared, Waiting
from visualizations.serving.inputs import PairChoice, checked_prompt, choice_of
from visualizations.step_through.kept_run import trace_on_screen
from visualizations.step_through.run_view import ShownRun, empty_value, new_run
from visualizations.step_through.sessions import change_of
from visualizations.step_through.until import Until, read_until
from visualizations.step_through.works import Branch, Resume
from visualizations.text import t

UNTIL_FIELDS = 5

Parts = Iterator[Waiting | Shared | Trace | Step]


class Wish(gr.HTML):
    """Shows nothing. Its value is {} for a new run, else the page's own:

    {"wish": "branch", "run": name on screen, "kept": value of a `KeptRun`, "at": position, "change": {kind, value},
    "with_form": whether the settings above hold from there on}, or {"wish": "continue", "run", "kept", "one_round"}.
    Then the event `go` fires. With {"runs": …}, see `saved_session`, it is `save`.
    """

    def __init__(self, **kwargs: Any) -> None:
        script = (Path(__file__).parent / "wish.js").read_text("utf-8")
        super().__init__(
            value={}, html_template="<span></span>", js_on_load=script, apply_default_css=False, **kwargs
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}


@dataclass(frozen=True)
class Asked:
    """A checked wish. name: what the run is called on the page. parts: begins it on the models of a shelf.

    until: what it pauses at. origin: of a branch, as the page shows it. continued: the run whose next rounds these are.
    """

    name: str
    parts: Callable[[Backend, threading.Event], Parts]
    until: Until = Until()
    origin: dict[str, Any] | None = None
    continued: ShownRun | None = None

    def blank(self, running: bool) -> dict[str, Any] | None:
        """The value of a `RunView` before the first round; None where the run on screen stays until then."""
        return None if self.origin or self.continued else empty_value(self.name, running)


def read_wish(wish: Any, prompt: Any, values: Sequence[Any]) -> Asked:
    """A checked wish from raw values: those of the boxes of `build_until`, then the form's. Raises `BadInput`."""
    until = read_until(values[:UNTIL_FIELDS])
    form = values[UNTIL_FIELDS:]
    kind = wish.get("wish") if isinstance(wish, dict) else None
    if kind == "branch":
        return replace(_branch(wish, form), until=until)
    if kind == "continue":
        return replace(_continued(wish), until=Until(every_round=True) if wish.get("one_round") is True else until)
    choice, settings = read_form(form)
    return new_run_of(choice, checked_prompt(prompt), settings, until)


def new_run_of(choice: PairChoice, prompt: str, settings: Settings, until: Until = Until()) -> Asked:
    """A run that begins with its prompt."""
    return Asked(new_run(), lambda shelf, stop: shelf.steps(choice, prompt, settings, stop), until)


def _branch(wish: dict[str, Any], form: Sequence[Any]) -> Asked:
    parent = trace_on_screen(wish.get("kept"))
    at, change = wish.get("at"), change_of(wish.get("change"))
    if not isinstance(at, int):
        raise BadInput("A branch goes on from a position of the run.")
    choice, settings = read_form(form) if wish.get("with_form") is True else (choice_of(parent.pair), None)
    work = Branch(parent, at, change, settings)
    origin = {"parent": _name(wish), "at": at, "kind": change.kind, "value": change.value}
    return Asked(
        new_run(),
        lambda shelf, stop: shelf.using(choice, work, stop),
        origin=origin | ({"with_form": True} if settings else {}),
    )


def _continued(wish: dict[str, Any]) -> Asked:
    ended = trace_on_screen(wish.get("kept"))
    if ended.output.stop_reason != "cancelled" or not ended.rounds:
        raise BadInput(t("until.nothing_left"))
    choice, work = choice_of(ended.pair), Resume(ended)
    return Asked(
        _name(wish),
        lambda shelf, stop: shelf.using(choice, work, stop),
        continued=ShownRun.whole(ended, _name(wish)),
    )


def _name(wish: dict[str, Any]) -> str:
    name = wish.get("run")
    if not isinstance(name, str) or not 0 < len(name) <= 64:
        raise BadInput(t("app.no_run.unreadable"))
    return name
