"""Which way of drafting is worth its cost here: length policies and drafters, measured by turns on the same prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from specdec.models.pairs import Pair
from specdec.settings import POLICIES, Settings
from specdec.timing.compare import COST_SAMPLES, REPEATS, measure_ways
from specdec.timing.comparison import Comparison, Ratio, Way
from specdec.timing.costs import CONTEXT, measure_costs
from specdec.timing.records import Costs
from specdec.timing.statistics import ratio_of, timings_of

FIXED = (2, 3, 4)
MOST = 8
PLAIN = "plain"


@dataclass(frozen=True)
class DraftingRow:
    """What one way of drafting gave. gamma: the most drafts of a round. speedup, low, high: decode rate over that of
    plain decoding, pooled, with its 95 % interval; None before two pairs of runs exist."""

    policy: str
    drafter: str
    gamma: int
    temperature: float
    tokens_per_round: float | None
    drafted_per_round: float | None
    speedup: float | None
    low: float | None
    high: float | None


def measure_lengths(
    pair: Pair,
    prompts: Sequence[str],
    settings: Settings | None = None,
    *,
    fixed: Sequence[int] = FIXED,
    most: int = MOST,
    repeats: int = REPEATS,
) -> Iterator[Comparison]:
    """Plain decoding, fixed lengths, every other policy, and copying before and without the model.

    As `compare`: the record after every prompt of every repeat. The policy `expected` is given c and v as they are
    measured first.
    """
    settings = settings or Settings()
    ways = drafting_ways(with_costs(settings, pass_costs(pair, most)), fixed, most)
    return measure_ways(pair, prompts, ways, repeats, set(range(1, max(most, *fixed) + 2)))


def pass_costs(pair: Pair, most: int) -> Costs:
    """t_draft and t_target(1), t_target(most + 1), briefly."""
    *_, costs = measure_costs(pair, repeats=COST_SAMPLES, widths=(1, most + 1), prefills=(), context=CONTEXT)
    return costs


def with_costs(settings: Settings, costs: Costs) -> Settings:
    """`settings` with c, and what each further token adds to a target pass, in target passes."""
    widest = costs.target[-1].tokens
    further = (costs.verify_ratio(widest - 1) - 1) / (widest - 1)
    return settings.changed(draft_cost=costs.cost_ratio, token_cost=max(0.0, further))


def drafting_ways(settings: Settings, fixed: Sequence[int] = FIXED, most: int = MOST) -> tuple[Way, ...]:
    """Plain decoding; then the model with every length policy, copying alone, and copying before the model."""
    varied = [policy for policy in POLICIES if policy != "fixed"]
    asked = [{"gamma": gamma} for gamma in fixed]
    asked += [{"policy": policy, "gamma": most} for policy in varied]
    asked += [{"drafter": "prompt_lookup", "gamma": most}]
    asked += [{"drafter": "lookup_then_model", "gamma": gamma} for gamma in fixed]
    asked += [{"drafter": "lookup_then_model", "policy": policy, "gamma": most} for policy in varied]
    chosen = [settings.changed(**{"drafter": "model", "policy": "fixed"} | values) for values in asked]
    plain = Way(PLAIN, "specdec", settings.changed(gamma=0, policy="fixed"))
    return (plain, *(Way(f"{way.drafter}_{way.policy}_{way.gamma}", "specdec", way) for way in chosen))


def rows_of_drafting(comparison: Comparison) -> list[DraftingRow]:
    """One row for each way but plain decoding, in the order of the ways."""
    plain = comparison.way(PLAIN)
    rows = []
    for index, way in enumerate(comparison.ways):
        result, row = comparison.result(index, plain), comparison.row(index)
        ratio = result.speedup if result else None
        if index != plain and row:
            rows.append(
                DraftingRow(
                    policy=way.settings.policy,
                    drafter=way.settings.drafter,
                    gamma=way.settings.gamma,
                    temperature=way.settings.temperature,
                    tokens_per_round=row.tokens_per_round,
                    drafted_per_round=row.timing.drafted_per_round,
                    speedup=ratio.pooled if ratio else None,
                    low=ratio.low if ratio else None,
                    high=ratio.high if ratio else None,
                )
            )
    return rows


def best_fixed(comparison: Comparison) -> int | None:
    """Index of the fixed length of the model alone that was fastest; None before any run."""
    return fastest(comparison, lambda way: way.settings.policy == "fixed" and way.settings.drafter == "model")


def best_way(comparison: Comparison) -> int | None:
    """Index of the way of drafting that was fastest; None before any run."""
    return fastest(comparison, lambda way: True)


def gain(comparison: Comparison, way: int, over: int) -> Ratio | None:
    """How many times as fast one way of drafting is as another, run by run."""
    return ratio_of(timings_of(comparison.samples, way), timings_of(comparison.samples, over))


def fastest(comparison: Comparison, wanted: Callable[[Way], bool]) -> int | None:
    """Index of the fastest of the ways of drafting that are `wanted`; None before any run."""
    plain = comparison.way(PLAIN)
    results = [comparison.result(i, plain) for i, way in enumerate(comparison.ways) if i != plain and wanted(way)]
    measured = [result for result in results if result and result.speedup]
    return max(measured, key=lambda result: result.speedup.pooled).way if measured else None
