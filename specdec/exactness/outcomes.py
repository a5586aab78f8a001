"""The exact law of a procedure that draws and tosses coins: it is run once for every outcome of its choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Law: TypeAlias = NDArray[np.float64]
Choose: TypeAlias = Callable[[Sequence[float]], int]  # draws an index, each with its chance; the chances sum to 1


@dataclass(frozen=True)
class Outcome:
    """kept: whether one of the drafts is the token. law: of the token, one-hot if it is kept."""

    kept: bool
    law: Law


Procedure: TypeAlias = Callable[[Choose], Outcome]


def law_of(procedure: Procedure) -> tuple[Law, float]:
    """The law [V] of the token that a procedure emits, and the chance that it is one of the drafts."""
    law, kept = 0.0, 0.0
    for chance, outcome in _every_outcome(procedure):
        law = law + chance * outcome.law
        kept += chance * outcome.kept
    return law, kept


def _every_outcome(procedure: Procedure) -> Iterator[tuple[float, Outcome]]:
    """Runs the procedure along every path of choices with a chance above 0."""
    paths: list[tuple[int, ...]] = [()]
    while paths:
        path = _Path(paths.pop())
        outcome = procedure(path.choose)
        yield path.chance, outcome
        paths += path.untried


class _Path:
    """Answers the first choices as told and the others with their first answer, and notes the answers not taken."""

    def __init__(self, told: tuple[int, ...]):
        self.told, self.taken = told, ()
        self.chance = 1.0
        self.untried: list[tuple[int, ...]] = []

    def choose(self, chances: Sequence[float]) -> int:
        depth = len(self.taken)
        if depth < len(self.told):
            answer = self.told[depth]
        else:
            answer, *others = [index for index, chance in enumerate(chances) if chance > 0]
            self.untried += [(*self.taken, other) for other in others]
        self.taken = (*self.taken, answer)
        self.chance *= float(chances[answer])
        return answer
