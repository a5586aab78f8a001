"""Ending the run of a page at its visitor's wish, so that its last word is in order with all before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_ROUND_SECONDS = 60.0
ENDING_SECONDS = 2.0


class OpenRuns:
    """The runs that wait in the queue or are under way, by the session of their page: one for each.

    A run is forgotten when it is over, or has left the queue.
    """

    def __init__(self) -> None:
        self._runs: dict[str, tuple[threading.Event, threading.Event]] = {}
        self._waiting: set[str] = set()
        self._lock = threading.Lock()

    def admit(self, session: str) -> bool:
        """Whether a run of the session may join the queue, where it then waits: not while another does, or is open.

        A run that is about to end gets a moment for it, since its visitor may have seen its last word already.
        """
        _, over = self._runs.get(session, (None, None))
        if over:
            over.wait(ENDING_SECONDS)
        with self._lock:
            free = session not in self._waiting and session not in self._runs
            if free:
                self._waiting.add(session)
            return free

    def leave(self, session: str) -> None:
        """The session's run, if one waits, has left the queue."""
        self._waiting.discard(session)

    @contextmanager
    def run(self, session: str) -> Iterator[threading.Event]:
        """While a run lasts: the event that is set when its visitor wants it to stop."""
        stop, over = threading.Event(), threading.Event()
        with self._lock:
            self._waiting.discard(session)
            self._runs[session] = (stop, over)
        try:
            yield stop
        finally:
            if self._runs.get(session) == (stop, over):
                del self._runs[session]
            over.set()

    def stop(self, session: str) -> None:
        """Ask the session's run to stop and wait until it has; one that waits is taken to leave the queue."""
        self.leave(session)
        stop, over = self._runs.get(session, (None, None))
        if stop and over:
            stop.set()
            over.wait(LONGEST_ROUND_SECONDS)
