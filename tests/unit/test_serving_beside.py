"""Work beside: on models that nobody wants, until somebody does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from specdec.models.pairs import Pair
from specdec.recording import decode
from specdec.settings import Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from tests.doing import Doing, nothing
from tests.sharing import share_once
from tests.slow_pair import PASS_SECONDS, slow_pair
from visualizations.serving.backend import Waiting
from visualizations.serving.inputs import PairChoice
from visualizations.serving.shelf import ModelShelf

CHOICE, OTHER = PairChoice("smollm2-135m+student"), PairChoice("smollm2-135m+itself")
LONG = Settings(chat=False, max_new_tokens=500, gamma=0)
SHORT = LONG.changed(max_new_tokens=2)
LONG_SECONDS = 500 * PASS_SECONDS
FREE_SECONDS = 10 * PASS_SECONDS


@pytest.fixture(scope="module")
def pair(pair_of: Any, tiny_llama: Any) -> Pair:
    return slow_pair(pair_of, tiny_llama)


@pytest.fixture
def shelf(pair: Pair) -> ModelShelf:
    """With the pair loaded; another never comes."""
    shelf = ModelShelf(lambda choice, note: pair if choice == CHOICE else threading.Event().wait(30), share=share_once)
    list(shelf.using(CHOICE, Doing(nothing), threading.Event()))
    return shelf


@contextmanager
def long_work_beside(shelf: ModelShelf) -> Iterator[tuple[threading.Event, Callable[[], Any]]]:
    """Work that is under way: the event that stops it, and what waits for its end and gives what came of it."""
    begun, stop, results = threading.Event(), threading.Event(), []

    def work(lent: Pair) -> Trace:
        begun.set()
        return decode(lent, "t0 t1", LONG)

    def ended() -> Any:
        thread.join(LONG_SECONDS)
        return results[0]

    thread = threading.Thread(target=lambda: results.append(shelf.beside("a+b", Doing(work), stop)))
    thread.start()
    assert begun.wait(10)
    yield stop, ended
    stop.set()
    thread.join(10)


def refused(shelf: ModelShelf, name: str = "a+b") -> bool:
    """Whether work beside isn't begun."""
    begun: list[Pair] = []
    shelf.beside(name, Doing(begun.append), threading.Event())
    return begun == []


def test_what_came_of_it_is_handed_over_when_nobody_asks(shelf: ModelShelf) -> None:
    trace = shelf.beside("a+b", Doing(lambda lent: decode(lent, "t0 t1", SHORT)), threading.Event())
    assert trace.metrics.emitted == 2
    assert any(isinstance(event, Step) for event in shelf.steps(CHOICE, "t0", SHORT, threading.Event()))


def test_it_gives_way_to_a_run_within_a_pass(shelf: ModelShelf) -> None:
    with long_work_beside(shelf) as (_, ended):
        began = time.monotonic()
        events = shelf.steps(CHOICE, "t0", SHORT, threading.Event())
        assert next(event for event in events if event == Waiting()) == Waiting()
        assert time.monotonic() - began < FREE_SECONDS
        assert [*events][-1].stop_reason == "length"
        assert ended() is None


def test_it_gives_way_to_who_waits_for_other_models(shelf: ModelShelf) -> None:
    with long_work_beside(shelf) as (_, ended):
        events = shelf.steps(OTHER, "t0", SHORT, threading.Event())
        assert next(events).loading is not None
        began = time.monotonic()
        assert ended() is None and time.monotonic() - began < FREE_SECONDS
        assert refused(shelf)
        events.close()
    assert not refused(shelf)


def test_its_event_ends_it(shelf: ModelShelf) -> None:
    with long_work_beside(shelf) as (stop, ended):
        began = time.monotonic()
        stop.set()
        assert ended() is None and time.monotonic() - began < FREE_SECONDS
    assert not refused(shelf)


def test_it_does_not_begin_while_somebody_holds_the_models(shelf: ModelShelf) -> None:
    events = shelf.steps(CHOICE, "t0", SHORT, threading.Event())
    assert next(event for event in events if event == Waiting()) == Waiting()
    assert refused(shelf)
    events.close()
    assert not refused(shelf)


def test_it_does_not_begin_beside_other_work_of_its_kind(shelf: ModelShelf) -> None:
    with long_work_beside(shelf):
        assert refused(shelf)


def test_models_are_not_loaded_for_it(shelf: ModelShelf) -> None:
    assert refused(shelf, "c+d")


def test_a_fault_frees_the_models(shelf: ModelShelf) -> None:
    def fail(lent: Pair) -> None:
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError):
        shelf.beside("a+b", Doing(fail), threading.Event())
    assert not refused(shelf)
