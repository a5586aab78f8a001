"""Models that several runs have at once without computing together, for tests of who has them and who waits."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

from specdec.models.batched import share

# Shares a pair as the app does, but once for all shelves: the passes that its models try take long where each is slow.
share_once = cache(share)


class Copies:
    """A shared pair that lends copies of its models, each with a cache of its own; what else they hold is the same.

    lent: how many are now; most: at once so far; ended: given back so far.
    """

    reason = None

    def __init__(self, pair: Any, slots: int) -> None:
        self.pair, self.slots, self.lent, self.most, self.ended = pair, slots, 0, 0, 0
        self._lock = threading.Lock()

    @contextmanager
    def lend(self) -> Iterator[Any]:
        with self._lock:
            if self.lent == self.slots:
                raise RuntimeError("Every slot is lent.")
            self.lent += 1
            self.most = max(self.most, self.lent)
        try:
            draft = self.pair.draft and copy.copy(self.pair.draft)
            yield replace(self.pair, target=copy.copy(self.pair.target), draft=draft)
        finally:
            with self._lock:
                self.lent -= 1
                self.ended += 1


def copies(pairs: list[Copies] | None = None) -> Callable[[Any, int], Copies]:
    """What a shelf shares its pairs by. pairs: those that it shares are noted there."""

    def share(pair: Any, slots: int) -> Copies:
        shared = Copies(pair, slots)
        if pairs is not None:
            pairs.append(shared)
        return shared

    return share
