"""What the tab measures: each a function of a pair that yields a record as it grows.

They stand at the top of a module, so that a borrowed GPU's process can be told which. Their imports are inside,
because they cost torch: the page opens without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specdec.settings import BadInput, Settings
from specdec.timing.comparison import Comparison
from specdec.timing.policies import MOST, PolicyRuns
from specdec.timing.records import Costs

if TYPE_CHECKING:
    from specdec.exactness.dependence import Dependence
    from specdec.models.pairs import Pair
    from specdec.timing.drafters import Drafters

FIXED = (2, 3, 4, MOST)
# Up to 32 texts with 4 drafts each.
WIDTHS = (*range(1, 10), 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128, 160)


@dataclass(frozen=True)
class Policies:
    """Part 1: one prompt's rounds under each policy, then what each is worth. comparison: None before its first runs."""

    runs: PolicyRuns
    comparison: Comparison | None = None

    @property
    def done(self) -> int:
        return self.runs.done + (self.comparison.done if self.comparison else 0)

    @property
    def total(self) -> int:
        return self.runs.total + (self.comparison.total if self.comparison else 0)


def run_each(pair: Pair, prompt: str, settings: Settings) -> Iterator[PolicyRuns]:
    """One prompt under each policy."""
    from specdec.timing.lengths import pass_costs, with_costs
    from specdec.timing.policies import run_policies

    _need_draft(pair)
    return run_policies(pair, prompt, with_costs(settings, pass_costs(pair, MOST)))


def compare_policies(pair: Pair, prompts: Sequence[str], settings: Settings, repeats: int) -> Iterator[Comparison]:
    """Plain decoding, fixed lengths and every policy by turns, with the draft model alone."""
    from specdec.timing.compare import measure_ways
    from specdec.timing.lengths import drafting_ways, pass_costs, with_costs

    _need_draft(pair)
    ways = drafting_ways(with_costs(settings, pass_costs(pair, MOST)), FIXED, MOST)
    alone = tuple(way for way in ways if way.settings.drafter == "model")
    return measure_ways(pair, prompts, alone, repeats, set(range(1, MOST + 2)))


def policies(pair: Pair, prompt: str, settings: Settings, repeats: int) -> Iterator[Policies]:
    """Both of part 1, of the same prompt."""
    record = None
    for runs in run_each(pair, prompt, settings):
        record = Policies(runs)
        yield record
    for comparison in compare_policies(pair, [prompt], settings, repeats):
        yield replace(record, comparison=comparison)


def dependence(pair: Pair, prompts: Sequence[str], kinds: Sequence[str], settings: Settings) -> Iterator[Dependence]:
    """Every tested draft of a run of each prompt, sampled at temperature 1. kinds: what each prompt is called."""
    from specdec.exactness.dependence import measure_dependence

    _need_draft(pair)
    chosen = settings.changed(temperature=1.0, gamma=4)
    return measure_dependence(pair, prompts, chosen, kinds=kinds)


def drafters(pair: Pair, prompts: Sequence[str], settings: Settings, repeats: int) -> Iterator[Drafters]:
    """Every drafter that the pair can have, on the same prompts."""
    from specdec.timing.drafters import measure_drafters

    return measure_drafters(pair, prompts, settings.changed(gamma=4), repeats=repeats)


def costs(pair: Pair, repeats: int) -> Iterator[Costs]:
    """Passes over as many tokens as many texts together have."""
    from specdec.timing.costs import measure_costs

    _need_draft(pair)
    return measure_costs(pair, repeats=repeats, widths=WIDTHS, prefills=())


def _need_draft(pair: Pair) -> None:
    if pair.draft is None:
        raise BadInput("This measurement needs a pair with a draft model.")
