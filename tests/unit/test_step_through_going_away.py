"""A run whose machine goes away in the middle and is begun again: what the screen is told, and what it is sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from specdec.settings import Settings
from specdec.trace.growing import GrowingTrace, Step
from visualizations.serving.backend import Waiting
from visualizations.serving.inputs import PairChoice
from visualizations.serving.shelf import ModelShelf
from visualizations.step_through.live_run import Shown, shown_steps
from visualizations.step_through.run_view import ShownRun
from visualizations.step_through.wishes import Asked
from visualizations.step_through.works import Resume
from visualizations.text import t

CHOICE = PairChoice("smollm2-135m+student")
SETTINGS = Settings(chat=False, max_new_tokens=30, gamma=3)


@pytest.fixture
def shelf(table_pair) -> ModelShelf:
    pair = table_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    return ModelShelf(lambda choice, note: pair)


def run(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
    return shelf.steps(CHOICE, "t0 t1", SETTINGS, stop)


def twice(parts: Any, steps: int) -> Any:
    """The parts up to so many rounds, then all of them again, as a backend gives them whose machine went away."""

    def given(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
        left = steps
        for part in parts(shelf, stop) if steps else ():
            yield part
            left -= isinstance(part, Step)
            if not left:
                break
        yield Waiting(again=True)
        yield from parts(shelf, stop)

    return given


def on_page(shown: list[Shown]) -> list[Any]:
    """The rounds of a page that was given all messages, as it joins them."""
    rounds: list[Any] = []
    mark = None
    for message in (step.view for step in shown if step.view):
        if message.get("again", {}).get("mark") != mark:
            mark = message["again"]["mark"]
            rounds = rounds[: message["again"]["rounds"]]
        rounds += message["rounds"][len(rounds) - message["first"] :]
    return rounds


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_run_is_shown_anew_and_says_so_to_its_end(shelf, steps):
    shown = list(shown_steps(shelf, Asked("run", twice(run, steps)), threading.Event()))
    whole = next(step.run for step in reversed(list(shown_steps(shelf, Asked("run", run), threading.Event()))) if step.run)
    assert on_page(shown) == whole.since(0)["rounds"]
    assert shown[-1].line["text"].count(t("app.begun_again")) == 1 and shown[-1].line["mood"] == "done"
    assert shown[-1].run.text == whole.text


def test_a_continued_run_keeps_the_rounds_from_before(shelf):
    growing = None
    for part in run(shelf, threading.Event()):
        if isinstance(part, Step):
            growing.add(part)
        elif not isinstance(part, Waiting):
            growing = GrowingTrace(part)
        if growing and len(growing.trace().rounds) == 4:
            break
    ended, work = growing.trace(), Resume(growing.trace())
    whole = list(run(shelf, threading.Event()))

    def parts(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
        return shelf.using(CHOICE, work, stop)

    before = ShownRun.whole(ended, "run")
    has = list(before.since(0)["rounds"])
    shown = list(shown_steps(shelf, Asked("run", twice(parts, 2), continued=before), threading.Event()))
    sent = on_page([Shown(shown[0].line, {"again": {"mark": None}, "rounds": has, "first": 0}), *shown])
    assert [r["positions"] for r in sent] == [r["positions"] for r in shown[-1].run.since(0)["rounds"]]
    assert shown[-1].run.text == "".join(step.text for step in whole if isinstance(step, Step))


def test_a_run_that_is_stopped_before_it_has_begun_again_ends(shelf):
    stop = threading.Event()

    def parts(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
        for part in twice(run, 2)(shelf, stop):
            if isinstance(part, Waiting) and part.again:
                stop.set()
            yield part

    shown = list(shown_steps(shelf, Asked("run", parts), stop))
    assert shown[-1].line["mood"] == "done" and not (shown[-1].run and shown[-1].run.running)
