"""The shelf of loaded models: as many runs at once as there are slots, and nothing kept of a failure."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from specdec.settings import BadInput, Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from tests.doing import Doing
from tests.sharing import Copies, copies
from visualizations.serving import shelf as module
from visualizations.serving.backend import Shared, Waiting
from visualizations.serving.inputs import PairChoice
from visualizations.serving.places import MOST_WAITING
from visualizations.serving.shelf import ModelShelf
from visualizations.step_through.live_run import run_steps

A, B, C = PairChoice("smollm2-135m+student"), PairChoice("smollm2-135m+itself"), PairChoice("smollm2-360m+135m")
RAW = Settings(chat=False, max_new_tokens=20, temperature=1.0)


@pytest.fixture
def pair(table_pair) -> Any:
    return table_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])


def test_a_run_waits_for_its_models_and_then_grows(pair: Any) -> None:
    events = [e for e in ModelShelf(lambda choice, note: pair).steps(A, "t0 t1", RAW, threading.Event()) if not isinstance(e, Waiting)]
    start, *steps = events
    assert isinstance(start, Trace) and not start.rounds
    assert sum(step.round.emitted for step in steps) == 20
    assert [step.stop_reason for step in steps] == ["cancelled"] * (len(steps) - 1) + ["length"]


def test_a_closed_run_frees_the_models_for_the_next(pair: Any) -> None:
    shelf = ModelShelf(lambda choice, note: pair)
    first = shelf.steps(A, "t0", RAW, threading.Event())
    while not isinstance(next(first), Trace):
        pass
    first.close()
    assert sum(e.round.emitted for e in shelf.steps(A, "t0", RAW, threading.Event()) if isinstance(e, Step)) == 20


def until_begun(events: Any) -> Any:
    """The events of a run, whose first round is there."""
    while not isinstance(next(events), Trace):
        pass
    return events


def test_as_many_run_at_once_as_there_are_slots_and_the_next_stands_in_line(pair: Any) -> None:
    shelf = ModelShelf(lambda choice, note: pair, 2, copies())
    first, second, third = (shelf.steps(A, "t0", RAW, threading.Event()) for _ in range(3))
    until_begun(first), until_begun(second)
    assert next(third).place == 1
    first.close()
    assert isinstance([*third][-1], Step) and isinstance([*second][-1], Step)


def test_two_pairs_have_the_slots_together(pair: Any) -> None:
    shelf = ModelShelf(lambda choice, note: pair, 2, copies())
    first, second, third = (shelf.steps(choice, "t0", RAW, threading.Event()) for choice in (A, B, A))
    until_begun(first), until_begun(second)
    events = (event for event in third if not event.loading)
    assert next(events).place == 1
    first.close(), third.close(), second.close()


def test_models_that_can_not_be_shared_run_one_after_another_however_many_slots_there_are(pair: Any) -> None:
    shelf = ModelShelf(lambda choice, note: pair, 8, lambda pair, slots: Copies(pair, 1))
    first, second = (shelf.steps(A, "t0", RAW, threading.Event()) for _ in range(2))
    until_begun(first)
    assert next(second).place == 1
    first.close()
    assert isinstance([*second][-1], Step)


def test_whoever_waits_leaves_the_line_at_once_with_a_stop(pair: Any) -> None:
    shelf, stop = ModelShelf(lambda choice, note: pair, 1), threading.Event()
    first, second, third = (shelf.steps(A, "t0", RAW, stop) for stop in (threading.Event(), stop, threading.Event()))
    until_begun(first)
    assert (next(second).place, next(third).place) == (1, 2)
    stop.set()
    began = time.monotonic()
    assert list(second) == [] and time.monotonic() - began < 2
    assert next(third).place == 1
    first.close(), third.close()


def test_a_fault_in_one_run_ends_that_run_alone(pair: Any) -> None:
    def fail(lent: Any) -> Any:
        yield "begun"
        raise RuntimeError("no memory")

    shared: list[Copies] = []
    shelf = ModelShelf(lambda choice, note: pair, 2, copies(shared))
    other = until_begun(shelf.steps(A, "t0", RAW, threading.Event()))
    with pytest.raises(RuntimeError):
        list(shelf.using(A, Doing(fail), threading.Event()))
    assert [*other][-1].stop_reason == "length"
    assert shared[0].lent == 0 and shared[0].most == 2


def test_others_beside_a_run_are_told_to_it_once(pair: Any) -> None:
    shelf = ModelShelf(lambda choice, note: pair, 2, copies())
    alone = list(shelf.steps(A, "t0", RAW, threading.Event()))
    first = until_begun(shelf.steps(A, "t0", RAW, threading.Event()))
    second = list(shelf.steps(A, "t0", RAW, threading.Event()))
    assert [sum(isinstance(event, Shared) for event in events) for events in (alone, first, second)] == [0, 1, 1]


def test_a_measurement_has_the_machine_for_itself(pair: Any) -> None:
    shelf, lent = ModelShelf(lambda choice, note: pair, 4, copies()), []
    run = until_begun(shelf.steps(A, "t0", RAW, threading.Event()))

    def measure(mine: Any) -> Any:
        lent.append(mine)
        yield "measured"

    measured = shelf.alone(A, Doing(measure), threading.Event())
    waits = next(measured)
    assert waits.alone and waits.place == 1 and not lent
    behind = shelf.steps(A, "t0", RAW, threading.Event())
    assert next(behind).behind, "who comes later does not begin before it"
    run.close()
    assert [*measured] == [Waiting(), "measured"]
    assert isinstance([*behind][-1], Step)


def test_when_too_many_wait_the_next_is_told_when_to_try_again(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.002)  # each of them is told its place after one
    shelf = ModelShelf(lambda choice, note: pair, 1)
    held = until_begun(shelf.steps(A, "t0", RAW, threading.Event()))
    waiting = [shelf.steps(A, "t0", RAW, threading.Event()) for _ in range(MOST_WAITING)]
    assert [next(events).place for events in waiting] == [*range(1, MOST_WAITING + 1)]
    with pytest.raises(BadInput, match="Try again in a moment"):
        next(shelf.steps(A, "t0", RAW, threading.Event()))
    read, decoded = next(held), next(held)  # how long a round takes is known from now on
    assert isinstance(read, Step) and isinstance(decoded, Step)
    with pytest.raises(BadInput, match=r"Try again in about \d+ s"):
        next(shelf.steps(A, "t0", RAW, threading.Event()))
    waiting[0].close()
    assert next(shelf.steps(A, "t0", RAW, threading.Event())).place == MOST_WAITING
    for events in (*waiting, held):
        events.close()


def test_a_refused_prompt_frees_the_models_too(pair: Any) -> None:
    shelf = ModelShelf(lambda choice, note: pair)
    with pytest.raises(BadInput):
        list(shelf.steps(A, "t0", Settings(chat=True), threading.Event()))  # these models have no chat template
    assert isinstance([*shelf.steps(A, "t0", RAW, threading.Event())][-1], Step)


@pytest.mark.parametrize("fault", [BadInput("The model can hold 9 tokens."), RuntimeError("no memory")])
def test_a_run_that_fails_half_way_is_not_left_running_on_screen(pair: Any, fault: Exception) -> None:
    class Failing:
        def steps(self, *asked: Any) -> Any:
            events = ModelShelf(lambda choice, note: pair).steps(*asked)
            yield next(event for event in events if isinstance(event, Trace))
            yield next(events)
            raise fault

    *before, last = run_steps(Failing(), A, "t0", RAW, threading.Event())
    assert last.line["mood"] == "fault"
    assert sum(len(shown.view["rounds"]) for shown in before) == last.view["first"] == 1 and not last.view["running"]


def test_a_failed_load_is_told_and_tried_again(pair: Any) -> None:
    answers = iter([BadInput("No route to the weights worked."), pair])

    def load(choice: PairChoice, note: Any) -> Any:
        answer = next(answers)
        if isinstance(answer, BadInput):
            raise answer
        return answer

    shelf = ModelShelf(load)
    with pytest.raises(BadInput, match="No route"):
        list(shelf.steps(A, "t0", RAW, threading.Event()))
    assert isinstance([*shelf.steps(A, "t0", RAW, threading.Event())][-1], Step)


def test_an_unforeseen_fault_of_a_load_is_told_in_a_sentence() -> None:
    def load(choice: PairChoice, note: Any) -> Any:
        raise MemoryError

    with pytest.raises(BadInput, match="our student could not be loaded: MemoryError"):
        list(ModelShelf(load).steps(A, "t0", RAW, threading.Event()))


def test_a_run_that_waits_for_its_models_leaves_at_once(pair: Any) -> None:
    gate, stop = threading.Event(), threading.Event()
    events = ModelShelf(lambda choice, note: gate.wait(30) and pair).steps(A, "t0", RAW, stop)
    assert next(events).loading is not None
    stop.set()
    began = time.monotonic()
    assert list(events) == [] and time.monotonic() - began < 2
    gate.set()


def test_a_load_that_nobody_waits_for_lets_the_next_pass(pair: Any) -> None:
    gate, stop, begun = threading.Event(), threading.Event(), threading.Event()

    def load(choice: PairChoice, note: Any) -> Any:
        begun.set()
        return gate.wait(30) and pair if choice == A else pair

    shelf = ModelShelf(load)
    first, second = shelf.steps(A, "t0", RAW, stop), shelf.steps(B, "t0", RAW, threading.Event())
    assert next(first).loading is not None and begun.wait(10)
    for _ in range(3):
        assert next(second).loading is not None  # one load at a time, while somebody waits for the first
    stop.set()
    assert list(first) == []
    assert isinstance([*second][-1], Step)
    gate.set()
    assert isinstance([*shelf.steps(A, "t0", RAW, threading.Event())][-1], Step)


