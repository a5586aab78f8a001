"""When a run ends. One place decides, token by token, so the earliest reason wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specdec.trace.ending import begun_stop
from specdec.trace.record import StopReason

Spelling = Callable[[int], str]


def _silent() -> Spelling:
    return lambda token: ""


@dataclass(frozen=True)
class Stopping:
    """The limits of one run.

    eos_ids: every id that ends the text. budget: new tokens at most, with budget_reason when it is
    used up. stop_strings: end where one is complete in the text, which may have begun in `before`, ids of the text
    that is there already. spelling: begins to spell a text; what it
    returns is called with each id in turn and says what that id adds to the text.
    """

    eos_ids: frozenset[int]
    budget: int
    budget_reason: StopReason = "length"
    stop_strings: tuple[str, ...] = ()
    spelling: Callable[[], Spelling] = _silent
    before: tuple[int, ...] = ()

    def begin(self) -> Ending:
        """Follow a new text."""
        return Ending(self)

    def until_eos(self, ids: Sequence[int]) -> list[int]:
        """`ids` up to and including the first that ends the text."""
        ends = [index + 1 for index, token in enumerate(ids) if token in self.eos_ids]
        return list(ids[: min(ends, default=len(ids))])


class Ending:
    """Follows one text until it ends; what a token costs does not grow with the text."""

    def __init__(self, stopping: Stopping):
        self._stopping = stopping
        self._spell = stopping.spelling()
        self._longest = max(map(len, stopping.stop_strings), default=0)
        self._tail = ""  # as much of the text as may be the beginning of a stop string
        self._emitted = 0
        if self._longest:
            self._tail = begun_stop("".join(map(self._spell, stopping.before)), stopping.stop_strings)

    def cut(self, new: Sequence[int]) -> tuple[list[int], StopReason | None]:
        """The part of `new` that still belongs to the text, and why it ends there (None: it goes on)."""
        kept: list[int] = []
        for token in new:
            kept.append(token)
            reason = self._reason(token)
            if reason:
                return kept, reason
        return kept, None

    def _reason(self, token: int) -> StopReason | None:
        self._emitted += 1
        if token in self._stopping.eos_ids:
            return "eos"
        if self._completes_stop_string(token):
            return "stop_string"
        return self._stopping.budget_reason if self._emitted >= self._stopping.budget else None

    def _completes_stop_string(self, token: int) -> bool:
        if not self._longest:
            return False
        text = self._tail + self._spell(token)
        self._tail = text[max(0, len(text) - self._longest + 1) :]
        return end_of_stop_string(text, self._stopping.stop_strings) is not None


def end_of_stop_string(text: str, stop_strings: Sequence[str]) -> int | None:
    """Index behind the first complete stop string in `text`, or None."""
    ends = [text.index(stop) + len(stop) for stop in stop_strings if stop in text]
    return min(ends, default=None)
