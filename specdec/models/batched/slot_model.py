"""A run's own model over a network that other runs use at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from torch import Tensor

from specdec.models.batched.packed import OwnModel, Row, extend_packed
from specdec.models.batched.turns import Request, Turns
from specdec.models.cancelling import Check, asked_before_layers, go_on
from specdec.models.interface import refuse_overflow
from specdec.models.transformers_model import PREFILL_CHUNK

LONGEST_SHARED = 128
"""Tokens of a prompt that still share a pass: more fill the machine by themselves, and the others would wait for them."""


class SlotModel:
    """A `LanguageModel` whose passes may be shared with those of other runs; all else is that of `own`, its model.

    run: whose model it is; its requests come one after another. A pass for one text alone is `own`'s, the same to
    the last bit. `sharing`: how many runs' rows the last `extend` computed, 1 where it was alone; 0 before the first.
    """

    def __init__(self, own: OwnModel, run: object, turns: Turns):
        self._own, self._run, self._turns = own, run, turns
        self._check: Check = go_on
        self._closed = False
        self.sharing = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def extend(self, tokens: Tensor) -> Tensor:
        refuse_overflow(self._own, len(tokens))
        logits, self.sharing = self._take(Row(self._own, tokens), partial(self._own.extend, tokens))
        return logits

    def prefill(self, tokens: Tensor) -> None:
        """Piece by piece, so that others are held up by no more than one."""
        refuse_overflow(self._own, len(tokens))
        for piece in tokens.split(PREFILL_CHUNK) if len(tokens) else ():
            row = Row(self._own, piece, scored=False)
            self._take(row, partial(self._read, piece), alone=len(piece) > LONGEST_SHARED)

    def rewind(self, length: int) -> None:
        self._refuse_if_closed()
        self._own.rewind(length)

    @contextmanager
    def asking(self, check: Check) -> Iterator[None]:
        """While it lasts, `check` is called before each layer of the passes that read a prompt into this model."""
        before, self._check = self._check, _both(self._check, check)
        try:
            yield
        finally:
            self._check = before

    def close(self) -> None:
        """The slot is another's from now on."""
        self._closed = True

    def _read(self, tokens: Tensor) -> None:
        """Nothing but this pass meets the check: no other goes on meanwhile."""
        with asked_before_layers(self._own.model, self._check):
            self._own.prefill(tokens)

    def _take(self, row: Row, by_itself: Callable[[], Tensor | None], *, alone: bool = False) -> Any:
        self._refuse_if_closed()
        work = _Work(row, by_itself)
        return self._turns.take(
            Request(self._run, self._own.model, self._cost, _compute, work, size=len(row.tokens), alone=alone)
        )

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise RuntimeError(f"The run's slot of {self._own.name} was given back, so it can't go on.")

    @cached_property
    def _cost(self) -> int:
        return sum(weight.numel() for weight in self._own.model.get_decoder().parameters())


def _both(first: Check, second: Check) -> Check:
    def check() -> None:
        first()
        second()

    return check


@dataclass(frozen=True)
class _Work:
    """A row for a pass of several, and how the run's model computes it `by_itself`."""

    row: Row
    by_itself: Callable[[], Tensor | None]


def _compute(requests: Sequence[Request]) -> None:
    """All in one pass; where that fails, each by itself, so that a fault stays with its own run."""
    if len(requests) > 1:
        rows = [request.work.row for request in requests]
        try:
            logits = extend_packed(rows[0].model.model, rows)
        except Exception:
            pass
        else:
            for request, part in zip(requests, logits):
                request.result = part, len(requests)
            return
    for request in requests:
        try:
            request.result = request.work.by_itself(), 1
        except Exception as fault:
            request.error = fault
