"""The runs of a page: one that waits or is under way for each visitor, and its end.

A visitor's wish, a closed tab and a program that cancels its call all set the run's stop event, and whoever works on the models asks for it between their passes. Gradio
itself ends a generator only where it yields, which a long prompt or a timed span doesn't do.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, TypeVar

import gradio as gr
from anyio import CapacityLimiter, to_thread

LONGEST_PASS_SECONDS = 60.0
ENDING_SECONDS = 2.0

T = TypeVar("T")
END: Any = object()


@dataclass(frozen=True)
class _Run:
    session: str
    stop: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


class OpenRuns:
    """The runs that wait in the queue or are under way, by the session of their page.

    A run is forgotten when it is over, or has left the queue.
    beside: what runs unasked; it is told to stop whenever its visitor asks for one of these runs, stops them or leaves.
    """

    def __init__(self, beside: OpenRuns | None = None) -> None:
        self._beside = beside
        self._runs: list[_Run] = []
        self._waiting: set[str] = set()
        self._lock = threading.Lock()

    def admit(self, session: str) -> bool:
        """Whether a run of the session may join the queue, where it then waits: not while another does, or is open.

        A run that is about to end gets a moment for it, since its visitor may have seen its last word already.
        """
        self._ask_beside(session)
        for run in self._of(session):
            run.over.wait(ENDING_SECONDS)
        with self._lock:
            free = session not in self._waiting and not self._of(session)
            if free:
                self._waiting.add(session)
            return free

    def leave(self, session: str) -> None:
        """The session's run, if one waits, has left the queue."""
        self._waiting.discard(session)

    @contextmanager
    def run(self, session: str) -> Iterator[threading.Event]:
        """While a run lasts: the event that is set when nobody waits for it any more."""
        run = _Run(session)
        with self._lock:
            self._waiting.discard(session)
            self._runs.append(run)
        try:
            yield run.stop
        finally:
            self._runs.remove(run)
            run.over.set()

    def stop(self, session: str) -> None:
        """Ask the session's runs to stop and wait until they have; one that waits is taken to leave the queue."""
        for run in self._ask(session):
            run.over.wait(LONGEST_PASS_SECONDS)

    def stop_when_left(self, page: gr.Blocks) -> None:
        """From now on, a page that is closed stops its runs and waits for none. `page` must be open for building."""

        def leave(request: gr.Request) -> None:
            self._ask(request.session_hash)

        page.unload(leave)

    def call(self, work: Callable[..., T]) -> Callable[..., T]:
        """The function of an event that gives one answer, `work(stop, *values)`, outside the queue."""

        def handle(request: gr.Request, *values: Any) -> T:
            with self.run(request.session_hash) as stop:
                return work(stop, *values)

        return handle

    def handler(self, steps: Callable[..., Iterator[T]]) -> Callable[..., AsyncIterator[T]]:
        """The function of a run's event, which yields what `steps(stop, *values)` yields.

        Each step is made in a thread of the run's own, so that those who wait take none of the threads in which Gradio
        answers everybody. A run that Gradio cancels or closes, even in the middle of a step, sets `stop`; `steps` is
        closed as soon as it has noticed.
        """

        async def handle(request: gr.Request, *values: Any) -> AsyncIterator[T]:
            own = CapacityLimiter(1)
            with self.run(request.session_hash) as stop:
                work = OneByOne(steps(stop, *values))
                try:
                    while (step := await to_thread.run_sync(work.next, limiter=own)) is not END:
                        yield step
                finally:
                    stop.set()
                    await to_thread.run_sync(work.close, limiter=own)

        return handle

    def _ask(self, session: str) -> list[_Run]:
        self.leave(session)
        asked = self._of(session)
        for run in asked:
            run.stop.set()
        return asked + self._ask_beside(session)

    def _ask_beside(self, session: str) -> list[_Run]:
        return self._beside._ask(session) if self._beside else []

    def _of(self, session: str) -> list[_Run]:
        return [run for run in self._runs if run.session == session]


class OneByOne:
    """An iterator for threads that change from step to step: all are made in the context in which it is made itself.

    It waits with being closed until the step under way is done.
    """

    def __init__(self, steps: Iterator[Any]) -> None:
        self._steps = steps
        self._one = threading.Lock()
        self._context = copy_context()

    def next(self) -> Any:
        """The next step, `END` after the last."""
        with self._one:
            return self._context.run(next, self._steps, END)

    def close(self) -> None:
        with self._one:
            self._context.run(self._steps.close)
