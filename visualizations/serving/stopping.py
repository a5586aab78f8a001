"""Ending the runs of a page: at its visitor's wish, when its tab is closed, when a program cancels its call.

All three set the run's stop event, and whoever works on the models asks for it between their passes. Gradio
itself ends a generator only where it yields, which a long prompt or a timed span doesn't do.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import gradio as gr
from anyio import to_thread

LONGEST_PASS_SECONDS = 60.0

T = TypeVar("T")
_END: Any = object()


@dataclass(frozen=True)
class _Run:
    session: str
    stop: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


class OpenRuns:
    """The runs under way, by the session of their page. A run is forgotten when it is over."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []

    @contextmanager
    def run(self, session: str) -> Iterator[threading.Event]:
        """While a run lasts: the event that is set when nobody waits for it any more."""
        run = _Run(session)
        self._runs.append(run)
        try:
            yield run.stop
        finally:
            self._runs.remove(run)
            run.over.set()

    def stop(self, session: str) -> None:
        """Ask the session's runs to stop and wait until they have; nothing happens when there is none."""
        for run in self._ask(session):
            run.over.wait(LONGEST_PASS_SECONDS)

    def stop_when_left(self, page: gr.Blocks) -> None:
        """From now on, a page that is closed stops its runs. `page` must be open for building."""

        def leave(request: gr.Request) -> None:
            self._ask(request.session_hash)

        page.unload(leave)

    def handler(self, steps: Callable[..., Iterator[T]]) -> Callable[..., AsyncIterator[T]]:
        """The function of a run's event, which yields what `steps(stop, *values)` yields.

        Each step is made in a thread of Gradio's. A run that Gradio cancels or closes, even in the middle of a
        step, sets `stop`; `steps` is closed as soon as it has noticed.
        """

        async def handle(request: gr.Request, *values: Any) -> AsyncIterator[T]:
            with self.run(request.session_hash) as stop:
                work = _OneByOne(steps(stop, *values))
                try:
                    while (step := await to_thread.run_sync(work.next)) is not _END:
                        yield step
                finally:
                    stop.set()
                    await to_thread.run_sync(work.close)

        return handle

    def _ask(self, session: str) -> list[_Run]:
        asked = [run for run in self._runs if run.session == session]
        for run in asked:
            run.stop.set()
        return asked


class _OneByOne:
    """An iterator that waits with being closed until the step under way is done."""

    def __init__(self, steps: Iterator[Any]) -> None:
        self._steps = steps
        self._one = threading.Lock()

    def next(self) -> Any:
        """The next step, `_END` after the last."""
        with self._one:
            return next(self._steps, _END)

    def close(self) -> None:
        with self._one:
            self._steps.close()
