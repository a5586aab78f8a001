"""A model whose runs last as long as a test wants."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from torch import Tensor

from specdec.models.table import TableModel

PATIENCE_SECONDS = 120


class HeldTable(TableModel):
    """A table that answers while its gate is open, and counts the runs that have begun."""

    def __init__(self, table: Sequence[float]) -> None:
        super().__init__(table)
        self.gate = threading.Event()
        self.gate.set()
        self.runs = 0

    def rewind(self, length: int) -> None:
        super().rewind(length)
        self.runs += length == 0

    def prefill(self, tokens: Tensor) -> None:
        self.gate.wait(PATIENCE_SECONDS)
        super().prefill(tokens)
