"""A table of probabilities with the interface of a model: what is shown on it is shown about the loop."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec.models.interface import NO_LIMIT, refuse_overflow, refuse_rewinding_forward


class TableModel:
    """A table of probabilities in place of a network.

    table: [V] (the same law everywhere) or [V, V] (row i: the law after token i).
    Rows need not be normalised; at temperature 1 the law is the normalised row.
    Raises ValueError for rows that are negative, all zero or not finite.
    """

    def __init__(self, table: Sequence[float] | Sequence[Sequence[float]] | Tensor, max_length: int = NO_LIMIT):
        weights = torch.as_tensor(table, dtype=torch.float64)
        total = weights.sum(-1)
        if weights.ndim not in (1, 2) or (weights < 0).any() or not (total.isfinite() & (total > 0)).all():
            raise ValueError("A table needs one or V rows of non-negative weights with a positive, finite sum.")
        self.vocab_size = weights.shape[-1]
        if weights.ndim == 2 and len(weights) != self.vocab_size:
            raise ValueError(f"A Markov table over {self.vocab_size} ids needs that many rows, not {len(weights)}.")
        self._logits = (weights / total.unsqueeze(-1)).log().float()
        self.name = "The table"
        self.max_length = max_length
        self.length = 0
        self.device = torch.device("cpu")

    def extend(self, tokens: Tensor) -> Tensor:
        self.prefill(tokens)
        rows = self._logits if self._logits.ndim == 2 else self._logits.expand(self.vocab_size, -1)
        return rows[tokens]

    def prefill(self, tokens: Tensor) -> None:
        refuse_overflow(self, len(tokens))
        self.length += len(tokens)

    def rewind(self, length: int) -> None:
        refuse_rewinding_forward(self, length)
        self.length = length
