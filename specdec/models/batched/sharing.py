"""A pair that several runs have at once, each with slots of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from specdec.models.pairs import Pair
from specdec.settings import Phrase


class SharedPair:
    """A loaded pair and its slots. Any thread may lend.

    slots: how many runs may have the pair at once; 1 where its models can't compute for several.
    reason: why only one; None where it may be shared.
    """

    def __init__(self, pair: Pair, slots: int, reason: Phrase | None) -> None:
        self.pair = pair
        self.slots = slots
        self.reason = reason
        self._free = slots
        self._lock = threading.Lock()

    @contextmanager
    def lend(self) -> Iterator[Pair]:
        """A pair of this run's own while it lasts. Raises RuntimeError when every slot is lent."""
        with self._lock:
            if not self._free:
                raise RuntimeError(f"All {self.slots} slots of {self.pair.info.name} are lent.")
            self._free -= 1
        try:
            yield self.pair
        finally:
            with self._lock:
                self._free += 1


def share(pair: Pair, slots: int) -> SharedPair:
    """The pair for up to `slots` runs at once, 1 or more; for one, with the reason, where its models can't do that."""
    return SharedPair(pair, 1, Phrase("{name} computes for one run at a time.", name=pair.info.target))
