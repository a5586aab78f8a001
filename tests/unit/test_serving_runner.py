"""The shelf of loaded models: one load and one run at a time, and nothing kept of a failure."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from specdec.settings import BadInput, Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.serving.inputs import PairChoice
from visualizations.serving.runner import MAX_LOADED_PAIRS, MAX_WAITING_LOADS, ModelShelf, Waiting
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


def test_a_second_run_waits_while_the_first_holds_the_models(pair: Any) -> None:
    shelf = ModelShelf(lambda choice, note: pair)
    first, second = shelf.steps(A, "t0", RAW, threading.Event()), shelf.steps(A, "t0", RAW, threading.Event())
    while not isinstance(next(first), Trace):
        pass
    assert next(second).busy
    first.close()
    assert isinstance([*second][-1], Step)


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


def test_asking_twice_loads_once(pair: Any) -> None:
    gate, loads = threading.Event(), []

    def load(choice: PairChoice, note: Any) -> Any:
        loads.append(choice)
        gate.wait(10)
        return pair

    shelf = ModelShelf(load)
    assert shelf.request(A) is shelf.request(A)
    gate.set()
    assert shelf.request(A).finished.wait(10) and loads == [A]


def test_looking_how_far_a_load_is_does_not_count_as_waiting_again(pair: Any) -> None:
    """So that once those who asked have left it makes way for others, however often somebody looked."""
    may_load = threading.Event()
    shelf = ModelShelf(lambda choice, note: may_load.wait(10) and pair)
    loading = shelf.warm(A)
    assert all(shelf.warm(A) is loading for _ in range(5)) and loading.wanted == 1
    shelf.leave(shelf.request(A))
    assert loading.wanted == 1
    may_load.set()
    assert loading.finished.wait(10) and shelf.warm(A) is loading


def test_the_pair_used_longest_ago_makes_room(pair: Any) -> None:
    loads = []
    shelf = ModelShelf(lambda choice, note: loads.append(choice) or pair)
    assert MAX_LOADED_PAIRS == 2
    for choice in (A, B, A, C, A, B):
        assert shelf.request(choice).finished.wait(10)
    assert loads == [A, B, C, B]


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


def test_loads_that_nobody_waits_for_are_not_begun_and_fill_no_place(pair: Any) -> None:
    gate, begun, loads = threading.Event(), threading.Event(), []

    def load(choice: PairChoice, note: Any) -> Any:
        loads.append(choice)
        begun.set()
        return gate.wait(30) and pair

    shelf = ModelShelf(load)
    kept = shelf.request(A)
    assert begun.wait(10)
    for number in range(2 * MAX_WAITING_LOADS):
        shelf.leave(shelf.request(PairChoice("custom", f"a/{number}", "b/c")))
    last = shelf.request(B)
    gate.set()
    assert kept.finished.wait(10) and last.finished.wait(10)
    assert loads == [A, B]


def test_loads_do_not_pile_up(pair: Any) -> None:
    gate = threading.Event()
    shelf = ModelShelf(lambda choice, note: gate.wait(10) and pair)
    for number in range(MAX_WAITING_LOADS):
        shelf.request(PairChoice("custom", f"a/{number}", "b/c"))
    with pytest.raises(BadInput, match="try again later"):
        shelf.request(A)
    gate.set()
