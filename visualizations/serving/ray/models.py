"""The models as a deployment: each replica is a process with a shelf of its own, somewhere in the cluster."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from typing import Any

from anyio import CapacityLimiter, to_thread

from specdec.models.catalogue import PairSpec, offer_first
from specdec.settings import BadInput
from visualizations.serving.backend import Backend, Loading
from visualizations.serving.first_pair import first_choice
from visualizations.serving.ray.asked import checked_choice, checked_request
from visualizations.serving.shelf import ModelShelf
from visualizations.serving.slots import usual_slots
from visualizations.serving.stopping import END, OneByOne
from visualizations.text import spoken


class Models:
    """One replica. Whatever it is asked, it checks again; a refusal is an answer too, the last: a `BadInput`."""

    def __init__(self, pairs: Sequence[PairSpec], slots: int | None = None, beside: int = 1) -> None:
        """The first of all pairs begins to load. pairs: to offer before all others, as the page does. slots: works that
        may have models at once; None for as many as fit, where so many replicas are on one machine as `beside` says."""
        for pair in pairs:
            offer_first(pair)
        self._backend: Backend = ModelShelf(slots=slots or max(1, usual_slots() // beside))
        self._pages: dict[threading.Event, str] = {}  # who waits for each of the works under way
        self._backend.warm(first_choice())

    async def opened(self, page: str) -> None:
        """Another page is there. The one before it may have been killed and can stop nothing any more: its works end."""
        for stop, other in list(self._pages.items()):
            if other != page:
                stop.set()

    async def warm(self, choice: Any) -> Loading | BadInput:
        """How far the loading is here."""
        try:
            return self._backend.warm(checked_choice(choice))
        except BadInput as refusal:
            return refusal

    async def answers(self, page: str, asked: Any, languages: Sequence[str]) -> AsyncIterator[Any]:
        """What the backend answers to an `Asked`. Closing or cancelling it sets the work's stop event at once.

        page: the name of who asks. languages: in which a refusal is worded.
        """
        stop, own = threading.Event(), CapacityLimiter(1)
        with spoken(languages):
            work = OneByOne(_answers(self._backend, asked, stop))
        self._pages[stop] = page
        try:
            while (answer := await to_thread.run_sync(work.next, limiter=own)) is not END:
                yield answer
        finally:
            stop.set()
            await to_thread.run_sync(work.close, limiter=own)
            del self._pages[stop]


def _answers(backend: Backend, asked: Any, stop: threading.Event) -> Iterator[Any]:
    try:
        with closing(checked_request(asked).begun(backend, stop)) as answers:
            yield from answers
    except BadInput as refusal:
        yield refusal
