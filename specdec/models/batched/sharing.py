"""A pair that several runs have at once, each with slots of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from specdec.models.pairs import Pair
from specdec.settings import Phrase

if TYPE_CHECKING:
    from specdec.models.batched.packed import OwnModel
    from specdec.models.interface import LanguageModel

    Slot = tuple[OwnModel, OwnModel | None]


class SharedPair:
    """A loaded pair and its slots: caches of their own for so many runs. Any thread may lend.

    slots: how many runs may have the pair at once; 1 where its models can't compute for several.
    reason: why only one, a sentence; None where it may be shared.
    """

    def __init__(self, pair: Pair, slots: int, reason: Phrase | None = None) -> None:
        self.pair = pair
        self.slots = slots
        self.reason = reason
        self._lock = threading.Lock()
        self._lent = 0

    @contextmanager
    def lend(self) -> Iterator[Pair]:
        """A pair of this run's own while it lasts. Raises RuntimeError when every slot is lent."""
        with self._lock:
            if self._lent == self.slots:
                raise RuntimeError(f"All {self.slots} slots of {self.pair.info.name} are lent.")
            self._lent += 1
        try:
            with self._slot() as pair:
                yield pair
        finally:
            with self._lock:
                self._lent -= 1

    @contextmanager
    def _slot(self) -> Iterator[Pair]:
        """The pair itself, which only one has at a time."""
        yield self.pair


class PackedPair(SharedPair):
    """A pair whose runs' passes are packed into common ones.

    A lent pair's target tells by `sharing` how many runs' rows its last pass had.
    """

    def __init__(self, pair: Pair, slots: int) -> None:
        from specdec.models.batched.turns import Turns

        super().__init__(pair, slots)
        self._turns = Turns()
        self._free: list[Slot] = []  # no more than were lent at once

    @contextmanager
    def _slot(self) -> Iterator[Pair]:
        from specdec.models.batched.slot_model import SlotModel

        with self._lock:
            slot = self._free.pop() if self._free else None
        own = slot or tuple(model and model.fresh() for model in (self.pair.target, self.pair.draft))
        run = object()
        target, draft = (model and SlotModel(model, run, self._turns) for model in own)
        try:
            yield self.pair.with_models(target, draft, self.pair.check)
        finally:
            for model in filter(None, (target, draft)):
                model.close()
            self._turns.leave(run)
            for model in filter(None, own):
                model.rewind(0)
            with self._lock:
                self._free.append(own)


def share(pair: Pair, slots: int) -> SharedPair:
    """The pair for up to `slots` runs at once, 1 or more; for one, with the reason, where its models can't do that.

    The models try a pass for two texts, which takes as long as some passes do.
    """
    if slots == 1:
        return SharedPair(pair, 1)
    for model in filter(None, (pair.target, pair.draft)):
        reason = _reason_for_one(model)
        if reason:
            return SharedPair(pair, 1, reason)
    return PackedPair(pair, slots)


def _reason_for_one(model: LanguageModel) -> Phrase | None:
    from specdec.models.batched.packed import can_pack
    from specdec.models.static import StaticModel
    from specdec.models.tapped import TappedModel
    from specdec.models.transformers_model import TransformersModel

    if isinstance(model, TappedModel):
        return Phrase("{name} is read by its draft, which needs its passes for itself.", name=model.name)
    if not isinstance(model, (TransformersModel, StaticModel)):
        return Phrase("{name} is no network that several runs could share.", name=model.name)
    if not can_pack(model):
        return Phrase("{name} computes its attention in a way that works for one run at a time.", name=model.name)
    return None
