"""Work that doesn't wait for whoever looks at it: it goes on in a thread while its results travel."""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TypeVar

SEND_SECONDS = 0.05  # between two updates of a page: what is quicker travels together

T = TypeVar("T")


class _Over:
    """The last thing in the queue. fault: what ended the work, if it did not end by itself."""

    def __init__(self, fault: BaseException | None) -> None:
        self.fault = fault


def ahead(work: Generator[T, None, None], every: float = SEND_SECONDS) -> Iterator[list[T]]:
    """What `work` yields, run in a thread of its own: all that is there, at most once in `every` seconds.

    Nothing is held back that is ready when it may travel. A fault of the work is raised here. Closing this iterator
    returns at once, since the server closes it where it answers everybody; the work is closed after the item it is at.
    """
    results: queue.SimpleQueue[T | _Over] = queue.SimpleQueue()
    wanted = threading.Event()
    wanted.set()

    def produce() -> None:
        fault = None
        try:
            with closing(work):
                for item in work:
                    results.put(item)
                    if not wanted.is_set():
                        break
        except BaseException as error:  # told to the consumer, whatever it is
            fault = error
        results.put(_Over(fault))

    # In the caller's context: a borrowed GPU is asked for in the name of the visitor that it holds.
    threading.Thread(target=contextvars.copy_context().run, args=(produce,), daemon=True).start()
    try:
        yield from _batches(results, every)
    finally:
        wanted.clear()


def _batches(results: queue.SimpleQueue[T | _Over], every: float = SEND_SECONDS) -> Iterator[list[T]]:
    sent = -every
    while True:
        batch: list[T] = []
        item = results.get()
        time.sleep(max(0.0, sent + every - time.monotonic()))
        while not isinstance(item, _Over):
            batch.append(item)
            try:
                item = results.get_nowait()
            except queue.Empty:
                break
        sent = time.monotonic()
        if batch:
            yield batch
        if isinstance(item, _Over):
            if item.fault is not None:
                raise item.fault
            return
