"""What a load test found: a small table, one line, and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from visualizations.load_test.client import Read
from visualizations.load_test.course import Answer, Measured

LAST_WITHIN_SECONDS = 45.0
PAGE_WITHIN_SECONDS = 0.2
NEXT_WITHIN_SECONDS = 10.0
MEMORY_WITHIN = 0.05
FAULTS = ("refused", "lost", "wrong")
MOST_WHYS = 10
_MET = {True: "met", False: "MISSED", None: "not measured"}


@dataclass(frozen=True)
class Times:
    """Of some seconds: how many there were, their median, what 95 % of them stay below, and the worst."""

    count: int
    median: float
    most: float
    worst: float


def times(seconds: Iterable[float | None]) -> Times | None:
    """None where nobody measured any."""
    known = [one for one in seconds if one is not None]
    return Times(len(known), *(float(np.percentile(known, part)) for part in (50, 95, 100))) if known else None


class Report:
    """Counts, times and verdicts of what was `measured`; only right answers have times."""

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        self._answers = [answer for wave in measured.waves for answer in wave]
        self.counts = Counter(answer.verdict.outcome for answer in self._answers)
        self.asked = len(self._answers) - self.counts["closed"]
        self.near_ties = sum(answer.near_tie for answer in self._answers)
        self.wait, self.total = _waits(self._answers), _totals(self._answers)

    @property
    def faults(self) -> list[str]:
        """What must not be, each in a few words: with any, the test has failed, however quick all was."""
        found = [f"{self.counts[kind]} {kind}" for kind in FAULTS if self.counts[kind]]
        failed = sum(not one.ok for one in (*self._measured.idle, *self._measured.loaded))
        found += [f"{failed} of the page's own requests failed"] if failed else []
        return found + (["no answer after closed tabs"] if self._measured.next_seconds is None else [])

    @property
    def goals(self) -> dict[str, bool | None]:
        """Whether each goal is met, which hangs on the machine too; None where it could not be measured."""
        page, next_seconds = times(one.seconds for one in self._measured.loaded), self._measured.next_seconds
        before, first, *_, after = self._measured.held
        return {
            f"last answer within {LAST_WITHIN_SECONDS:g} s": self.total and self.total.worst <= LAST_WITHIN_SECONDS,
            f"page's own requests below {1000 * PAGE_WITHIN_SECONDS:g} ms": page and page.median < PAGE_WITHIN_SECONDS,
            f"next run within {NEXT_WITHIN_SECONDS:g} s": next_seconds is not None and next_seconds <= NEXT_WITHIN_SECONDS,
            f"memory within {MEMORY_WITHIN:.0%} of the first wave's": (
                None if first is None or after is None else after.megabytes <= first.megabytes * (1 + MEMORY_WITHIN)
            ),
            "no thread and no file left": None if before is None or after is None else not after.beyond(before),
        }

    def line(self) -> str:
        """The last line, e.g. "50 of 50 answered, worst 38.2 s"; then what must not be."""
        worst = [f"worst {self.total.worst:.1f} s"] if self.total else []
        return ", ".join([f"{self.counts['answered']} of {self.asked} answered", *worst, *self.faults])

    def table(self) -> str:
        """A few lines for a terminal."""
        return "\n".join([*self._rows(), "", *self._notes(), "", *self._whys()]).rstrip()

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data; of each answer what came of it, not its text."""
        measured = self._measured
        return {
            "line": self.line(),
            "faults": self.faults,
            "goals": self.goals,
            "plan": asdict(measured.plan),
            "counts": dict(self.counts),
            "near_ties": self.near_ties,
            "compared_with_alone": measured.compared,
            "wait": self.wait and asdict(self.wait),
            "total": self.total and asdict(self.total),
            "requests": {
                name: {kind: asdict(of) for kind, of in _by_kind(reads)}
                for name, reads in (("idle", measured.idle), ("loaded", measured.loaded))
            },
            "held": [held and asdict(held) for held in measured.held],
            "closed_after": measured.closed,
            "next_seconds": measured.next_seconds,
            "waves": [[_plain(answer) for answer in wave] for wave in measured.waves],
        }

    def _rows(self) -> Iterator[str]:
        yield f"{'seconds':32} {'median':>8} {'95 %':>8} {'worst':>8}"
        for number, wave in enumerate(self._measured.waves, 1):
            yield _row(f"wave {number}: to the first round", _waits(wave))
            yield _row(f"wave {number}: to the end", _totals(wave))
        for name, reads in (("idle", self._measured.idle), ("loaded", self._measured.loaded)):
            for kind, of in _by_kind(reads):
                yield _row(f"{name}: {kind}", of)

    def _notes(self) -> Iterator[str]:
        names = ["before", *(f"after wave {number}" for number in range(1, len(self._measured.waves) + 1)), "in the end"]
        for name, held in zip(names, self._measured.held, strict=True):
            if held:
                yield f"{name:14} {held.megabytes:8.1f} MB {held.threads:5} threads {held.files:5} files"
        yield f"{self._measured.compared} greedy prompts compared with their texts alone, {self.near_ties} near ties"
        yield f"{self.counts['closed']} tabs closed in the waves, {self._measured.closed} after them"
        if self._measured.next_seconds is not None:
            yield f"the next run took {self._measured.next_seconds:.1f} s"
        for goal, met in self.goals.items():
            yield f"{goal}: {_MET[met]}"

    def _whys(self) -> list[str]:
        bad = [answer for answer in self._answers if answer.verdict.outcome in FAULTS]
        return [
            f"visitor {one.visit.visitor.number}: {one.verdict.outcome}, {one.verdict.why[:160]}" for one in bad[:MOST_WHYS]
        ]


def _waits(answers: Sequence[Answer]) -> Times | None:
    return times(one.visit.wait for one in answers if one.verdict.outcome == "answered")


def _totals(answers: Sequence[Answer]) -> Times | None:
    return times(one.visit.total for one in answers if one.verdict.outcome == "answered")


def _by_kind(reads: Sequence[Read]) -> Iterator[tuple[str, Times]]:
    """Those of all kinds together come last."""
    for kind in dict.fromkeys(one.kind for one in reads):
        if of := times(one.seconds for one in reads if one.kind == kind):
            yield kind, of
    if of := times(one.seconds for one in reads):
        yield "all of the page's own", of


def _row(name: str, of: Times | None) -> str:
    return f"{name:32}" + (f" {of.median:8.3f} {of.most:8.3f} {of.worst:8.3f}" if of else "  nobody")


def _plain(answer: Answer) -> dict[str, Any]:
    visit = answer.visit
    visitor = {name: value for name, value in asdict(visit.visitor).items() if name != "prompt"}
    came = {"outcome": answer.verdict.outcome, "why": answer.verdict.why, "near_tie": answer.near_tie}
    return visitor | came | {"wait": visit.wait, "total": visit.total}
