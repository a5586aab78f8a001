"""A rejection of a recorded run, and the laws that come out of it with each law that the replacement could have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from specdec.trace.record import Position
from specdec.trace.trace import Trace
from visualizations.figures.token_bars import bar_frame

SHOWN = 5
MOST_OTHER = 0.05  # p_big and p_small of the tokens that are counted as one


@dataclass(frozen=True)
class Cells:
    """The laws of a position over a few tokens, all others in the last cell. overlap: min(p_big, p_small)."""

    labels: tuple[str, ...]
    p_big: tuple[float, ...]
    p_small: tuple[float, ...]
    overlap: tuple[float, ...]

    @property
    def overlap_mass(self) -> float:
        """beta, the chance that a draft is kept here."""
        return sum(self.overlap)


@dataclass(frozen=True)
class Refill:
    """One way to replace. refill: what it adds to each cell; distance: total variation of what comes out to p_big."""

    refill: tuple[float, ...]
    distance: float


def rejection(runs: Sequence[Trace]) -> Cells:
    """Of the rejections whose tokens nearly all have a cell, the one where drawing from p_big would be most wrong."""
    places = chain.from_iterable(run.positions for run in runs)
    found = [_cells(position) for position in places if position.kind == "replaced"]
    clear = [cells for cells in found if max(cells.p_big[-1], cells.p_small[-1]) < MOST_OTHER]
    return max(clear, key=lambda cells: refills(cells)["p_big"].distance)


def refills(cells: Cells) -> dict[str, Refill]:
    """By name: the residual, p_big, p_small, and all cells alike."""
    missing = 1 - cells.overlap_mass
    even = 1 / len(cells.labels)
    laws = {
        "p_big": cells.p_big,
        "residual": tuple((p - both) / missing for p, both in zip(cells.p_big, cells.overlap)),
        "p_small": cells.p_small,
        "uniform": (even,) * len(cells.labels),
    }
    return {name: _refill(cells, law, missing) for name, law in laws.items()}


def _refill(cells: Cells, law: Sequence[float], missing: float) -> Refill:
    refill = tuple(missing * share for share in law)
    gaps = (both + more - p for both, more, p in zip(cells.overlap, refill, cells.p_big))
    return Refill(refill, sum(abs(gap) for gap in gaps) / 2)


def _cells(position: Position) -> Cells:
    frame = bar_frame(position, SHOWN)
    overlap = frame["overlap"]
    p, q = ([both + more for both, more in zip(overlap, frame[name])] for name in ("residual", "excess"))
    p_sum, q_sum = sum(p), sum(q)  # 1, up to the digits that a trace keeps
    return Cells(
        tuple(frame["labels"]), tuple(m / p_sum for m in p), tuple(m / q_sum for m in q), tuple(m / p_sum for m in overlap)
    )
