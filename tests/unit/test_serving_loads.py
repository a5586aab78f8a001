"""The loading of pairs: one at a time, in the background, and nothing kept of a failure."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from specdec.models.batched import share
from specdec.settings import BadInput
from visualizations.serving.inputs import PairChoice
from visualizations.serving.loads import MAX_LOADED_PAIRS, MAX_WAITING_LOADS, Loads

A, B, C = PairChoice("smollm2-135m+student"), PairChoice("smollm2-135m+itself"), PairChoice("smollm2-360m+135m")


@pytest.fixture
def pair(table_pair) -> Any:
    return table_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])


def one_run(pair: Any) -> Any:
    return share(pair, 1)


def test_asking_twice_loads_once(pair: Any) -> None:
    gate, loads = threading.Event(), []

    def load(choice: PairChoice, note: Any) -> Any:
        loads.append(choice)
        gate.wait(10)
        return pair

    known = Loads(load, one_run)
    assert known.request(A) is known.request(A)
    gate.set()
    assert known.request(A).finished.wait(10) and loads == [A]


def test_looking_how_far_a_load_is_does_not_count_as_waiting_again(pair: Any) -> None:
    """So that once those who asked have left it makes way for others, however often somebody looked."""
    may_load = threading.Event()
    known = Loads(lambda choice, note: may_load.wait(10) and pair, one_run)
    loading = known.warm(A)
    assert all(known.warm(A) is loading for _ in range(5)) and loading.wanted == 1
    known.leave(known.request(A))
    assert loading.wanted == 1
    may_load.set()
    assert loading.finished.wait(10) and known.warm(A) is loading


def test_the_pair_used_longest_ago_makes_room(pair: Any) -> None:
    loads = []
    known = Loads(lambda choice, note: loads.append(choice) or pair, one_run)
    assert MAX_LOADED_PAIRS == 2
    for choice in (A, B, A, C, A, B):
        assert known.request(choice).finished.wait(10)
    assert loads == [A, B, C, B]


def test_loads_that_nobody_waits_for_are_not_begun_and_fill_no_place(pair: Any) -> None:
    gate, begun, loads = threading.Event(), threading.Event(), []

    def load(choice: PairChoice, note: Any) -> Any:
        loads.append(choice)
        begun.set()
        return gate.wait(30) and pair

    known = Loads(load, one_run)
    kept = known.request(A)
    assert begun.wait(10)
    for number in range(2 * MAX_WAITING_LOADS):
        known.leave(known.request(PairChoice("custom", f"a/{number}", "b/c")))
    last = known.request(B)
    gate.set()
    assert kept.finished.wait(10) and last.finished.wait(10)
    assert loads == [A, B]


def test_loads_do_not_pile_up(pair: Any) -> None:
    gate = threading.Event()
    known = Loads(lambda choice, note: gate.wait(10) and pair, one_run)
    for number in range(MAX_WAITING_LOADS):
        known.request(PairChoice("custom", f"a/{number}", "b/c"))
    with pytest.raises(BadInput, match="try again later"):
        known.request(A)
    gate.set()
