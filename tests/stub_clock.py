"""A clock that moves only when a model says so, and models that say so: time without waiting."""

from __future__ import annotations

import torch

from specdec.models.table import TableModel


class StubClock:
    """A clock that moves only when a model says so."""

    def __init__(self):
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class SlowTable(TableModel):
    """A table whose every pass takes a fixed time on the stub clock."""

    def __init__(self, table, stub: StubClock, extend: float, prefill: float = 0.0):
        super().__init__(table)
        self.stub, self.extend_seconds, self.prefill_seconds = stub, extend, prefill

    def extend(self, tokens: torch.Tensor) -> torch.Tensor:
        self.stub.now += self.extend_seconds
        self.length += len(tokens)
        return self._logits.expand(self.vocab_size, -1)[tokens]

    def prefill(self, tokens: torch.Tensor) -> None:
        self.stub.now += self.prefill_seconds
        self.length += len(tokens)
