"""Work in a thread of its own: it doesn't wait for its consumer, and it ends when the consumer leaves."""

from __future__ import annotations

import contextvars
import threading

import pytest

from visualizations.serving.ahead import ahead

PATIENCE = 10


def counted(count: int, made: list[int], closed: threading.Event):
    try:
        for number in range(count):
            made.append(number)
            yield number
    finally:
        closed.set()


def test_everything_arrives_in_order_and_what_is_ready_travels_together():
    made, closed = [], threading.Event()
    batches = ahead(counted(50, made, closed), every=0.02)
    first = next(batches)
    assert closed.wait(PATIENCE)  # the consumer has taken one batch, and the work is over
    rest = list(batches)
    assert [*first, *(number for batch in rest for number in batch)] == list(range(50))
    assert len(rest) <= 1


def test_a_slow_work_is_passed_on_item_by_item():
    go = threading.Semaphore(1)

    def slow():
        for number in range(4):
            assert go.acquire(timeout=PATIENCE)
            yield number

    seen = []
    for batch in ahead(slow(), every=0.0):
        seen.append(batch)
        go.release()
    assert seen == [[0], [1], [2], [3]]


def test_closing_ends_the_work_after_the_item_it_is_at():
    made, closed, go = [], threading.Event(), threading.Semaphore(1)

    def gated():
        for number in counted(1000, made, closed):
            assert go.acquire(timeout=PATIENCE)
            yield number

    batches = ahead(gated(), every=0.0)
    assert next(batches) == [0]
    batches.close()
    go.release()
    assert closed.wait(PATIENCE)
    assert len(made) <= 2


def test_a_consumer_that_is_forgotten_ends_the_work_too():
    closed, go = threading.Event(), threading.Event()

    def gated():
        try:
            yield 0
            go.wait(PATIENCE)
            yield 1
        finally:
            closed.set()

    assert next(ahead(gated(), every=0.0)) == [0]  # and the iterator is gone
    go.set()
    assert closed.wait(PATIENCE)


@pytest.mark.parametrize("fault", [ValueError("bad"), RuntimeError("worse")])
def test_a_fault_comes_after_what_was_made_before_it(fault):
    def failing():
        yield 1
        raise fault

    batches = ahead(failing(), every=0.0)
    assert next(batches) == [1]
    with pytest.raises(type(fault), match=str(fault)):
        next(batches)


def test_the_work_sees_the_context_of_its_consumer():
    visitor = contextvars.ContextVar("visitor", default="nobody")
    visitor.set("somebody")

    def named():
        yield visitor.get()

    assert list(ahead(named(), every=0.0)) == [["somebody"]]
