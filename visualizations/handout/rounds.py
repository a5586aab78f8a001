"""Rounds of recorded runs that can be computed again from the few digits that stand on paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from specdec.trace.record import Candidate, Position, Round
from specdec.trace.trace import Trace
from visualizations.figures.labels import token_label
from visualizations.handout.numbers import FEWEST, printed
from visualizations.lesson.runs import recorded_run

RUNS = ("facts", "story")
BEFORE = 90  # characters of the text so far, at most
CELLS = 5
CLOSE = 0.01  # how far rounding may move an accept probability
CLEAR = Fraction(3, 100)  # between a coin and what it is held against, and between the likeliest replacements


@dataclass(frozen=True)
class Draft:
    """A drafted token. coin: None where none was thrown, behind a rejection."""

    label: str
    small: Fraction
    big: Fraction
    coin: Fraction | None

    @property
    def accept(self) -> Fraction:
        return min(Fraction(1), self.big / self.small)

    @property
    def fate(self) -> str:
        """kept, rejected or untested."""
        if self.coin is None:
            return "untested"
        return "kept" if self.coin < self.accept else "rejected"


@dataclass(frozen=True)
class Cell:
    """A token at the place of the rejection.

    lack: what p_big has more of it; of all others it is summed token by token.
    """

    label: str
    small: Fraction
    big: Fraction
    lack: Fraction


@dataclass(frozen=True)
class PrintedRound:
    """A round with a rejection. cells: of the tokens that matter at its place; others: of all the rest.

    before: the end of the text so far. replacement: the token that was really drawn.
    """

    run: Trace
    number: int
    before: str
    drafts: tuple[Draft, ...]
    cells: tuple[Cell, ...]
    others: Cell
    replacement: str

    @property
    def kept(self) -> int:
        return sum(draft.fate == "kept" for draft in self.drafts)

    @property
    def rejected(self) -> Draft:
        return next(draft for draft in self.drafts if draft.fate == "rejected")

    @property
    def rejected_share(self) -> Fraction:
        """1 − β at the place of the rejection: all that p_big lacks."""
        return sum((cell.lack for cell in self.cells), self.others.lack)

    @property
    def likeliest(self) -> Cell:
        """The token that the residual gives most."""
        return max(self.cells, key=lambda cell: cell.lack)


@lru_cache(maxsize=1)
def suitable_rounds() -> tuple[PrintedRound, ...]:
    """All rounds with two tested drafts or more, the last of them rejected, that come out on paper as they did."""
    return tuple(found for key in RUNS for found in _rounds(recorded_run(key)))


def _rounds(run: Trace) -> Iterator[PrintedRound]:
    text = ""
    for number, round_ in enumerate(run.rounds, 1):
        if 2 <= round_.tested == round_.accepted + 1:
            found = _on_paper(run, number, round_, text)
            if _comes_out(found, round_):
                yield found
        text += "".join(position.text for position in round_.positions if position.kind != "discarded")


def _on_paper(run: Trace, number: int, round_: Round, text: str) -> PrintedRound:
    place = round_.positions[round_.accepted]
    ranked = sorted(place.candidates, key=lambda candidate: -max(candidate.p, candidate.q or 0.0))
    asked = sorted(ranked, key=lambda candidate: candidate.id not in (place.draft_id, place.token_id))[:CELLS]
    cells = tuple(_cell(candidate) for candidate in ranked if candidate in asked)
    return PrintedRound(
        run,
        number,
        before=text if len(text) <= BEFORE else "…" + text[-BEFORE:].partition(" ")[2],
        drafts=tuple(map(_draft, round_.positions[: round_.drafted])),
        cells=cells,
        others=_others(place, [candidate for candidate in ranked if candidate not in asked], cells),
        replacement=token_label(place.text, place.token_id, place.bytes),
    )


def _draft(position: Position) -> Draft:
    drafted = next(candidate for candidate in position.candidates if candidate.id == position.draft_id)
    coin = None if position.coin is None else printed(position.coin, FEWEST)
    return Draft(token_label(drafted.text, drafted.id, drafted.bytes), printed(position.q), printed(position.p), coin)


def _cell(candidate: Candidate) -> Cell:
    small, big = printed(candidate.q or 0.0, FEWEST), printed(candidate.p, FEWEST)
    return Cell(token_label(candidate.text, candidate.id, candidate.bytes), small, big, max(Fraction(0), big - small))


def _others(place: Position, left: list[Candidate], cells: tuple[Cell, ...]) -> Cell:
    lack = place.other.residual + sum(max(0.0, candidate.p - (candidate.q or 0.0)) for candidate in left)
    small, big = (1 - sum(getattr(cell, name) for cell in cells) for name in ("small", "big"))
    return Cell("", small, big, printed(lack, FEWEST))


def _comes_out(found: PrintedRound, round_: Round) -> bool:
    """Whether the printed digits give every verdict of the record, and the residual without doubt."""
    for draft, position in zip(found.drafts, round_.positions):
        if not draft.small or not draft.big:
            return False
        if draft.coin is not None and abs(draft.accept - draft.coin) < CLEAR:
            return False
        if abs(float(draft.accept) - min(1.0, position.p / position.q)) > CLOSE:
            return False
    first, second = sorted((cell.lack for cell in found.cells), reverse=True)[:2]
    others = found.others
    whole = others.big - others.small <= others.lack <= others.big and others.small >= 0
    return whole and first - second >= CLEAR and 2 * others.lack < found.rejected_share
