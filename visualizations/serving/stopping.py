"""Ending the run of a page at its visitor's wish, so that its last word is in order with all before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_ROUND_SECONDS = 60.0


class OpenRuns:
    """The runs under way, by the session of their page. A run is forgotten when it is over."""

    def __init__(self) -> None:
        self._runs: dict[str, tuple[threading.Event, threading.Event]] = {}

    @contextmanager
    def run(self, session: str) -> Iterator[threading.Event]:
        """While a run lasts: the event that is set when its visitor wants it to stop."""
        stop, over = threading.Event(), threading.Event()
        self._runs[session] = (stop, over)
        try:
            yield stop
        finally:
            if self._runs.get(session) == (stop, over):
                del self._runs[session]
            over.set()

    def stop(self, session: str) -> None:
        """Ask the session's run to stop and wait until it has; nothing happens when there is none."""
        stop, over = self._runs.get(session, (None, None))
        if stop and over:
            stop.set()
            over.wait(LONGEST_ROUND_SECONDS)
