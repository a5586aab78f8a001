"""What a page is sent while a run goes on: each round once, and together the whole."""

from __future__ import annotations

import json
import pickle
import threading
from typing import Any

import pytest

from specdec.settings import Settings
from specdec.trace.growing import GrowingTrace, Step
from specdec.trace.trace import Trace
from tests.held_table import PATIENCE_SECONDS, HeldTable
from tests.made_trace import made_trace
from visualizations.serving.inputs import PairChoice
from visualizations.serving.shelf import ModelShelf
from visualizations.step_through.handlers import run_on_screen
from visualizations.step_through.kept_run import UNDER_WAY, kept
from visualizations.step_through.live_run import run_steps, shown_steps
from visualizations.step_through.run_view import ShownRun, run_view_value
from visualizations.step_through.until import Until
from visualizations.step_through.wishes import new_run_of
from visualizations.text import t

CHOICE = PairChoice("smollm2-135m+student")
OF_A_RUN = {"run"}


def settings(tokens: int) -> Settings:
    return Settings(chat=False, max_new_tokens=tokens, gamma=3)


@pytest.fixture
def shelf(table_pair) -> ModelShelf:
    pair = table_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    return ModelShelf(lambda choice, note: pair)


def shown_by(shelf: ModelShelf, tokens: int = 40) -> list[Any]:
    return list(run_steps(shelf, CHOICE, "t0 t1", settings(tokens), threading.Event()))


def joined(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """What a page has that was given all messages."""
    value: dict[str, Any] = {"rounds": []}
    for message in messages:
        assert message["first"] == len(value["rounds"])
        value |= message | {"rounds": value["rounds"] + message["rounds"]}
    return value | {"first": 0}


def same_but_for_the_name(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return {k: v for k, v in one.items() if k != "run"} == {k: v for k, v in other.items() if k != "run"}


def test_the_messages_of_a_run_joined_are_the_value_of_its_whole_trace(shelf):
    shown = shown_by(shelf)
    run = next(step.run for step in shown if step.run)
    value = joined([step.view for step in shown])
    assert value == run.since(0)
    assert same_but_for_the_name(value, run_view_value(run.record.trace()))
    assert run.record.trace().output.stop_reason == value["stop"] == "length" and not value["running"]
    assert json.loads(json.dumps(value)) == value


def test_the_run_on_screen_is_one_that_grows(shelf):
    steps = run_steps(shelf, CHOICE, "t0 t1", settings(200), threading.Event())
    run = next(step.run for step in steps if step.run)
    early = run.record.trace()
    later = [step.run for step in steps]
    assert set(later) == {run}
    assert len(run.record.trace().rounds) > len(early.rounds)
    assert Trace.from_json(early.to_json()) == early


@pytest.mark.parametrize("first", [0, 1, 5])
def test_what_a_page_lacks_begins_where_it_says(first):
    trace = made_trace()
    run = ShownRun.whole(trace, "run")
    assert joined([run.since(0)])["rounds"][first:] == run.since(first)["rounds"]
    assert ("prompt" in run.since(first)) == (first == 0)


def test_a_message_does_not_grow_with_the_run_nor_with_the_prompt(table_pair):
    pair = table_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    from specdec.recording import steps

    start, *rounds = steps(pair, "t0 t1 " * 100, settings(400))
    run, sizes = ShownRun(start, "run"), []
    for step in rounds:
        run.add(step)
        sizes.append(len(json.dumps(run.since(len(run) - 1))) / len(step.round.positions))
    assert max(sizes[-20:]) < 1.5 * max(sizes[1:21])


def test_a_stopped_run_keeps_what_is_on_screen(shelf):
    stop = threading.Event()
    shown = []
    for step in run_steps(shelf, CHOICE, "t0 t1", settings(512), stop):
        shown.append(step)
        if step.run:
            stop.set()
    value, run = joined([step.view for step in shown]), next(step.run for step in shown if step.run)
    assert not value["running"] and value["stop"] in ("cancelled", "length")
    assert same_but_for_the_name(value, run_view_value(run.record.trace()))


def test_a_paused_run_frees_its_slot_for_the_next_in_line(pair_of):
    target = HeldTable([0.5, 0.3, 0.2])
    pair = pair_of(target, HeldTable([0.2, 0.3, 0.5]))
    shelf, given_up = ModelShelf(lambda choice, note: pair, slots=1), threading.Event()
    asked = new_run_of(CHOICE, "t0 t1", settings(40), Until(every_round=True))
    target.gate.clear()
    first = shown_steps(shelf, asked, threading.Event())
    while next(first).line["text"] != t("app.reading"):
        pass
    second = shelf.steps(CHOICE, "t0 t1", settings(12), given_up)
    assert next(second).place == 1
    target.gate.set()
    *_, last = first
    assert last.run.paused and len(last.run) == 1
    patience = threading.Timer(PATIENCE_SECONDS, given_up.set)
    patience.daemon = True
    patience.start()
    assert sum(step.round.emitted for step in second if isinstance(step, Step)) == 12
    patience.cancel()


def test_a_view_that_lacks_rounds_gets_them_of_the_run_under_way_or_else_of_the_one_that_the_page_holds(shelf):
    trace, origin = shown_by(shelf)[-1].run.record.trace(), {"parent": "before", "at": 1, "kind": "replay", "value": None}
    live = ShownRun.whole(trace, "run")
    assert run_on_screen(live, UNDER_WAY) is run_on_screen(live, kept(trace, "run")) is live
    for nothing_or_another in (None, live.named("another")):
        found = run_on_screen(nothing_or_another, kept(trace, "run", origin))
        assert found.since(0) == run_view_value(trace, "run", origin)
    assert [run_on_screen(None, held) for held in (UNDER_WAY, {"trace": "{", "run": "run"}, "?", None)] == [None] * 4


def test_a_run_that_is_built_from_its_trace_gives_it_back():
    trace = made_trace()
    run = ShownRun.whole(trace, "run")
    assert run.record.trace() == trace and not run.since(0)["running"]


def test_parts_that_went_through_a_borrowed_process_make_the_same_run(table_pair):
    from specdec.recording import steps

    pair = table_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    start, *rounds = pickle.loads(pickle.dumps(list(steps(pair, "t0 t1", settings(20)))))
    run = ShownRun(start, "run")
    record = GrowingTrace(start)
    for step in rounds:
        assert isinstance(step, Step)
        run.add(step)
        record.add(step)
    assert run.record.trace() == record.trace()
