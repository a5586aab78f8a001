"""Rows of one shape that come and go at the end, as tokens do in a cache."""

from __future__ import annotations

from torch import Tensor


class Rows:
    """[n, ...] of any n, in a memory that at least doubles when it is full. Keeps the first rows' dtype and device."""

    def __init__(self) -> None:
        self._memory: Tensor | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, rows: Tensor) -> None:
        """Copy [k, ...] behind the rows that are there."""
        count = self._count + len(rows)
        if self._memory is None or count > len(self._memory):
            grown = rows.new_empty(max(count, 2 * self._count), *rows.shape[1:])
            if self._memory is not None:
                grown[: self._count] = self._memory[: self._count]
            self._memory = grown
        self._memory[self._count : count] = rows
        self._count = count

    def cut(self, count: int) -> None:
        """Forget all but the first `count` rows; fewer stay as they are."""
        self._count = min(self._count, count)

    def read(self, start: int, stop: int) -> Tensor:
        """Rows `start` to `stop`, valid until the next change. Raises ValueError for rows that aren't there."""
        if self._memory is None or not 0 <= start <= stop <= self._count:
            raise ValueError(f"There are {self._count} rows, so there are none from {start} to {stop}.")
        return self._memory[start:stop]
