"""The models as a deployment: each replica is a process with a shelf of its own, somewhere in the cluster."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from anyio import CapacityLimiter, to_thread

from specdec.models.catalogue import PairSpec, offer_first
from specdec.settings import BadInput
from visualizations.serving.backend import Backend, Loading
from visualizations.serving.first_pair import first_choice
from visualizations.serving.ray.asked import checked_choice, checked_request
from visualizations.serving.ray.config import MOST_ON_REPLICA
from visualizations.serving.shelf import ModelShelf
from visualizations.serving.stopping import END, OneByOne
from visualizations.text import spoken


class Models:
    """One replica. Whatever it is asked, it checks again; a refusal is an answer too, the last: a `BadInput`."""

    def __init__(self, pairs: Sequence[PairSpec]) -> None:
        """pairs: to offer before all others, as the page does. The first of all begins to load."""
        for pair in pairs:
            offer_first(pair)
        self._backend: Backend = ModelShelf()
        self._pages = _Pages()
        self._threads = CapacityLimiter(MOST_ON_REPLICA)
        self._backend.warm(first_choice())

    async def warm(self, page: str, choice: Any) -> Loading | BadInput:
        """How far the loading is here. page: who asks, a name that no other page had."""
        self._pages.met(page)
        try:
            return self._backend.warm(checked_choice(choice))
        except BadInput as refusal:
            return refusal

    async def answers(self, page: str, asked: Any, languages: Sequence[str]) -> AsyncIterator[Any]:
        """What the backend answers to an `Asked`. Closing or cancelling it sets the work's stop event at once.

        languages: in which refusals are worded.
        """
        with self._pages.waiting(page) as stop:
            with spoken(languages):
                work = OneByOne(_answers(self._backend, asked, stop))
            try:
                while (answer := await to_thread.run_sync(work.next, limiter=self._threads)) is not END:
                    yield answer
            finally:
                stop.set()
                await to_thread.run_sync(work.close)


def _answers(backend: Backend, asked: Any, stop: threading.Event) -> Iterator[Any]:
    try:
        with closing(checked_request(asked).begun(backend, stop)) as answers:
            yield from answers
    except BadInput as refusal:
        yield refusal


class _Pages:
    """Who waits for what. A page that was killed says nothing: its works are stopped when the page after it is met."""

    def __init__(self) -> None:
        self._page = ""
        self._gone: set[str] = set()
        self._stops: set[threading.Event] = set()

    def met(self, page: str) -> None:
        if page == self._page or page in self._gone:
            return
        self._gone.add(self._page)
        self._page = page
        for stop in self._stops:
            stop.set()

    @contextmanager
    def waiting(self, page: str) -> Iterator[threading.Event]:
        """While a work of the page lasts: its stop event."""
        self.met(page)
        stop = threading.Event()
        if page in self._gone:
            stop.set()
        self._stops.add(stop)
        try:
            yield stop
        finally:
            self._stops.discard(stop)
