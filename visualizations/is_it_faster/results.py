"""What the sections of the tab "Is it faster?" come to, in a line each. Pure functions of the records that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specdec.timing.comparison import Comparison, Ratio, Sweep
from specdec.timing.records import Costs
from specdec.trace.record import ratio
from visualizations.figures.time_spent import TOKENS, split_of
from visualizations.is_it_faster.captions import best_length
from visualizations.text import t

if TYPE_CHECKING:  # importing it costs torch
    from specdec.timing.race import Race

NOT_YET = "faster.result.not_yet"


def race_result(race: Race) -> str:
    """How many times as fast the speculative lane was."""
    plain, fast = race.plain.decode_rate, race.speculative.decode_rate
    if not plain or not fast:
        return t(NOT_YET)
    return t("faster.result.race", ratio=f"{ratio(fast, plain):.2f}", fast=f"{fast:.1f}", plain=f"{plain:.1f}")


def comparison_result(comparison: Comparison, way: int) -> str:
    """The ratio with its interval, or why it can't be told."""
    from specdec.timing.statistics import MIN_PAIRS  # here, because it costs scipy: the page opens without

    result = comparison.result(way, comparison.way("plain"))
    if result is None:
        return t(NOT_YET)
    key, found = result.verdict.key, result.speedup
    if key == "nothing_drafted":
        return t("faster.table.nothing_drafted")
    if found is None or found.low is None or found.high is None or found.n < MIN_PAIRS:
        return t("faster.result.too_few", n=found.n if found else 0, least=MIN_PAIRS)
    return t(f"faster.result.{key}", prompts=len(comparison.prompts), **_interval(found))


def time_result(comparison: Comparison, way: int) -> str:
    """Seconds with and without drafts, and how far the formula explains them."""
    base = comparison.way("plain")
    rows, result = (comparison.row(way), comparison.row(base)), comparison.result(way, base)
    fast, plain = (split_of("", row.timing) if row else None for row in rows)
    if fast is None or plain is None:
        return t(NOT_YET)
    said = t("faster.result.time", tokens=TOKENS, fast=f"{fast.seconds:.2f}", plain=f"{plain.seconds:.2f}")
    if result is None or result.measured_over_predicted is None:
        return said
    return f"{said}; {t('faster.result.explained', share=f'{result.measured_over_predicted:.2f}')}"


def passes_result(costs: Costs, gamma: int) -> str:
    """What verifying all drafts costs, in passes over one token."""
    return t("faster.result.passes", tokens=gamma + 1, v=f"{costs.verify_ratio(gamma):.2f}")


def sweep_result(sweep: Sweep) -> str:
    """The best measured draft length."""
    best = best_length(sweep)
    if best is None:
        return t(NOT_YET)
    return t(f"faster.result.sweep.{best.kind}", gamma=best.point.gamma, **_interval(best.point.result.speedup))


def _interval(found: Ratio) -> dict[str, str | int]:
    low, high = ("–" if value is None else f"{value:.2f}" for value in (found.low, found.high))
    return {"speedup": f"{found.pooled:.2f}", "low": low, "high": high, "n": found.n}
