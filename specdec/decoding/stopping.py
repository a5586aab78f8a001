"""When a run ends. One place decides, token by token, so the earliest reason wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specdec.trace.record import StopReason


@dataclass(frozen=True)
class Stopping:
    """The limits of one run.

    eos_ids: every id that ends the text. budget: new tokens at most, with budget_reason when it is
    used up. stop_strings: end where one is complete in decode(output ids).
    """

    eos_ids: frozenset[int]
    budget: int
    budget_reason: StopReason = "length"
    stop_strings: tuple[str, ...] = ()
    decode: Callable[[Sequence[int]], str] = lambda ids: ""

    def cut(self, output: Sequence[int], new: Sequence[int]) -> tuple[list[int], StopReason | None]:
        """The part of `new` that still belongs to the text, and why it ends there (None: it goes on)."""
        kept: list[int] = []
        for token in new:
            kept.append(token)
            reason = self._reason([*output, *kept])
            if reason:
                return kept, reason
        return kept, None

    def until_eos(self, ids: Sequence[int]) -> list[int]:
        """`ids` up to and including the first that ends the text."""
        ends = [index + 1 for index, token in enumerate(ids) if token in self.eos_ids]
        return list(ids[: min(ends, default=len(ids))])

    def _reason(self, ids: Sequence[int]) -> StopReason | None:
        if ids[-1] in self.eos_ids:
            return "eos"
        if self.stop_strings and end_of_stop_string(self.decode(ids), self.stop_strings) is not None:
            return "stop_string"
        return self.budget_reason if len(ids) >= self.budget else None


def end_of_stop_string(text: str, stop_strings: Sequence[str]) -> int | None:
    """Index behind the first complete stop string in `text`, or None."""
    ends = [text.index(stop) + len(stop) for stop in stop_strings if stop in text]
    return min(ends, default=None)
