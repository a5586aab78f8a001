"""What the tab measures: each a function of a pair that yields a record as it grows.

Their imports are inside, because they cost torch: the page opens without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specdec.settings import BadInput, Settings
from specdec.timing.comparison import Comparison, Way
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
    """Part 1: one prompt's rounds under each policy, then what each is worth. comparison: None before its first runs;
    timed: the runs that it will have."""

    runs: PolicyRuns
    timed: int
    comparison: Comparison | None = None

    @property
    def done(self) -> int:
        return self.runs.done + (self.comparison.done if self.comparison else 0)

    @property
    def total(self) -> int:
        return self.runs.total + self.timed


def run_each(pair: Pair, prompt: str, settings: Settings) -> Iterator[PolicyRuns]:
    """One prompt under each policy."""
    from specdec.timing.policies import run_policies

    return run_policies(pair, prompt, _priced(pair, settings))


def compare_policies(pair: Pair, prompts: Sequence[str], settings: Settings, repeats: int) -> Iterator[Comparison]:
    """Plain decoding, fixed lengths and every policy by turns, with the draft model alone."""
    return _compare(pair, prompts, _ways(_priced(pair, settings)), repeats)


def policies(pair: Pair, prompt: str, settings: Settings, repeats: int) -> Iterator[Policies]:
    """Both of part 1, of the same prompt."""
    from specdec.timing.policies import run_policies

    priced, record = _priced(pair, settings), None
    ways = _ways(priced)
    for runs in run_policies(pair, prompt, priced):
        record = Policies(runs, timed=len(ways) * repeats)
        yield record
    for comparison in _compare(pair, [prompt], ways, repeats):
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


def _priced(pair: Pair, settings: Settings) -> Settings:
    """`settings` with what drafting and verifying cost here, for the policy that asks."""
    from specdec.timing.lengths import pass_costs, with_costs

    _need_draft(pair)
    return with_costs(settings, pass_costs(pair, MOST))


def _ways(priced: Settings) -> tuple[Way, ...]:
    """Plain decoding, fixed lengths and every policy, with the draft model alone."""
    from specdec.timing.lengths import drafting_ways

    return tuple(way for way in drafting_ways(priced, FIXED, MOST) if way.settings.drafter == "model")


def _compare(pair: Pair, prompts: Sequence[str], ways: tuple[Way, ...], repeats: int) -> Iterator[Comparison]:
    from specdec.timing.compare import measure_ways

    return measure_ways(pair, prompts, ways, repeats, set(range(1, MOST + 2)))


def _need_draft(pair: Pair) -> None:
    if pair.draft is None:
        raise BadInput("This measurement needs a pair with a draft model.")
