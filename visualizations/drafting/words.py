"""What the records of drafting say, in words: sentences, verdicts, tables. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specdec.timing.comparison import Comparison, Ratio, Way
from specdec.timing.policies import PolicyRun, PolicyRuns
from specdec.timing.records import Costs
from visualizations.components.report.component import report_value, table
from visualizations.figures.shared_machine import BATCHES, most_tokens
from visualizations.text import t

if TYPE_CHECKING:  # importing these costs torch
    from specdec.exactness.dependence import Dependence, Share
    from specdec.timing.drafters import DrafterPoint, Drafters

NONE = "–"
PLAIN = "plain"
ENOUGH = 10  # tested drafts of a kind


def policy_answers(runs: PolicyRuns) -> dict[str, str]:
    """Each policy's run in a sentence."""
    return {run.policy: _policy_answer(run, runs) for run in runs.runs}


def runs_caption(runs: PolicyRuns) -> str:
    """Of which prompt and with which models, and how it was sampled."""
    return t(
        "drafting.columns.said",
        prompt=_short(runs.prompt),
        seed=runs.settings.seed,
        gamma=runs.settings.gamma,
    )


def threshold_caption(runs: PolicyRuns) -> str:
    """What a cut can tell, and what it can't."""
    return t("drafting.threshold.said", gamma=runs.settings.gamma)


def policies_report(comparison: Comparison | None) -> dict:
    """Whether a policy beats the best fixed length, and the table of all."""
    if comparison is None:
        return report_value(t("drafting.verdict.none"))
    verdict, rows = policies_verdict(comparison), _policy_rows(comparison)
    head = [t(f"drafting.table.{name}") for name in ("policy", "per_round", "drafts", "wasted", "predicted", "speedup")]
    settings = comparison.ways[-1].settings
    note = t(
        "drafting.table.note",
        prompts=len(comparison.prompts),
        repeats=comparison.repeats,
        done=comparison.done,
        total=comparison.total,
        temperature=f"{settings.temperature:g}",
        tokens=settings.max_new_tokens,
    )
    return report_value(verdict, "", (), [table(t("drafting.table.policies"), head, rows)], note)


def policies_verdict(comparison: Comparison) -> str:
    """'No better than γ = 2' where that is so: the best policy against the best fixed length, run by run."""
    verdict, values = policies_compared(comparison)
    return t(f"drafting.verdict.{verdict}", **values)


def policies_compared(comparison: Comparison) -> tuple[str, dict[str, str | int]]:
    """'better', 'no_better' or 'worse', or 'few' where there are too few runs, with the numbers it rests on."""
    from specdec.timing.lengths import best_fixed, fastest, gain  # here, because they cost torch and scipy
    from specdec.timing.statistics import MIN_PAIRS

    fixed, policy = best_fixed(comparison), fastest(comparison, lambda way: way.settings.policy != "fixed")
    ratio = gain(comparison, policy, fixed) if fixed is not None and policy is not None else None
    if ratio is None or ratio.low is None or ratio.high is None or ratio.n < MIN_PAIRS:
        return "few", {"n": ratio.n if ratio else 0, "least": MIN_PAIRS}
    best = comparison.result(fixed, comparison.way(PLAIN)).speedup
    return _compared(ratio), {
        "policy": t(f"drafting.columns.policy.{comparison.ways[policy].settings.policy}"),
        "gamma": comparison.ways[fixed].settings.gamma,
        "fixed": f"{best.pooled:.2f}",
        "ratio": f"{ratio.pooled:.2f}",
        "low": f"{ratio.low:.2f}",
        "high": f"{ratio.high:.2f}",
        "n": ratio.n,
    }


def place_caption(dependence: Dependence, shares: Sequence[Share]) -> str:
    """How acceptance goes along the draft; that it rises or falls is said only where the intervals allow it."""
    if not shares:
        return ""
    first, last = shares[0], shares[-1]
    if first.high < last.rate and first.rate < last.low:
        way = "rises"
    elif last.high < first.rate and last.rate < first.low:
        way = "falls"
    else:
        way = "open"
    return t(
        f"drafting.acceptance.place_{way}", first=f"{first.rate:.2f}", last=f"{last.rate:.2f}", place=last.label,
        n=sum(share.tested for share in shares), where=_where(dependence),
    )  # fmt: skip


def entropy_caption(dependence: Dependence, threshold: float) -> str:
    """How well the two models agree on both sides of the threshold."""
    sides = [[f.overlap for f in dependence.facts if (f.draft_entropy > threshold) is above] for above in (False, True)]
    below, above = (f"{sum(side) / len(side):.2f}" if side else NONE for side in sides)
    return t("drafting.acceptance.entropy_said", below=below, above=above, threshold=f"{threshold:g}")


def target_caption(shares: Sequence[Share]) -> str:
    """From the surest bin of the target's entropy to the least sure."""
    if len(shares) < 2:
        return ""
    first, last = shares[0], shares[-1]
    return t(
        "drafting.acceptance.target_said", first=f"{first.rate:.2f}", low=first.label, last=f"{last.rate:.2f}", high=last.label
    )


def kind_caption(tokens: Sequence[Share], prompts: Sequence[Share]) -> str:
    """The easiest and the hardest kind of token and of prompt, among those with enough drafts to tell."""
    said = []
    for name, shares in (("token", tokens), ("prompt", prompts)):
        told = sorted((share for share in shares if share.tested >= ENOUGH), key=lambda share: share.rate)
        if len(told) > 1:
            ends = {end: t(f"drafting.acceptance.{name}.{share.label}") for end, share in (("worst", told[0]), ("best", told[-1]))}
            rates = {"low": f"{told[0].rate:.2f}", "high": f"{told[-1].rate:.2f}"}
            said.append(t(f"drafting.acceptance.{name}_said", **ends, **rates))
    return " ".join(said)


def drafters_report(drafters: Drafters) -> dict:
    """The table of all drafters, with the fastest in a sentence."""
    best, verdict = best_drafter(drafters), ""
    if best:
        low, high = (NONE if value is None else f"{value:.2f}" for value in (best.low, best.high))
        name = t(f"drafting.drafters.key.{best.key}")
        verdict = t("drafting.drafters.best", name=name, speedup=f"{best.speedup:.2f}", low=low, high=high)
    head = [t(f"drafting.table.{name}") for name in ("drafter", "c", "alpha", "per_round", "speedup")]
    note = t(
        "drafting.drafters.note", gamma=drafters.settings.gamma, prompts=drafters.prompts,
        temperature=f"{drafters.settings.temperature:g}", done=drafters.done, total=drafters.total,
    )  # fmt: skip
    rows = [_drafter_row(point) for point in drafters.points]
    return report_value(verdict, "", (), [table(t("drafting.table.drafters"), head, rows)], note)


def best_drafter(drafters: Drafters) -> DrafterPoint | None:
    """The fastest that was measured."""
    measured = [point for point in drafters.points if point.speedup is not None]
    return max(measured, key=lambda point: point.speedup, default=None)


def shared_caption(costs: Costs) -> str:
    """What the lines were computed from."""
    return t(
        "drafting.shared.said",
        one=f"{1e3 * costs.target_seconds(1):.0f}",
        batch=BATCHES[-1],
        many=f"{1e3 * costs.target_seconds(BATCHES[-1]):.0f}",
        most=most_tokens(costs),
        last=f"{1e3 * costs.target_seconds(most_tokens(costs)):.0f}",
        draft=f"{1e3 * costs.draft_seconds:.1f}",
    )


def _policy_answer(run: PolicyRun, runs: PolicyRuns) -> str:
    count = len(run.rounds)
    drafts, wasted = sum(len(r.drafts) for r in run.rounds), sum(r.wasted for r in run.rounds)
    tokens = sum(r.emitted for r in run.rounds)
    settings = runs.settings.changed(policy=run.policy)
    rule = t(f"drafting.columns.rule.{run.policy}", gamma=settings.gamma, threshold=settings.threshold)
    counted = t("drafting.columns.answer", per_round=f"{tokens / count:.2f}", drafts=drafts, wasted=wasted, rounds=count)
    return f"{rule} {counted}"


def _compared(ratio: Ratio) -> str:
    if ratio.low > 1:
        return "better"
    return "worse" if ratio.high < 1 else "no_better"


def _policy_rows(comparison: Comparison) -> list[list[str]]:
    plain, rows = comparison.way(PLAIN), []
    for index, way in enumerate(comparison.ways):
        row, result = comparison.row(index), comparison.result(index, plain)
        if index == plain or row is None or result is None:
            continue
        timing, ratio = row.timing, result.speedup
        rows.append([
            _way_name(way),
            _number(row.tokens_per_round),
            _number(timing.drafted_per_round),
            _number((timing.drafted - timing.tested) / timing.rounds if timing.rounds else None),
            f"{result.prediction.speedup:.2f}×" if result.prediction else NONE,
            _speedup(ratio.pooled, ratio.low, ratio.high) if ratio else NONE,
        ])  # fmt: skip
    return rows


def _way_name(way: Way) -> str:
    name = t(f"drafting.columns.policy.{way.settings.policy}")
    key = "fixed" if way.settings.policy == "fixed" else "at_most"
    return t(f"drafting.table.{key}", policy=name, gamma=way.settings.gamma)


def _drafter_row(point: DrafterPoint) -> list[str]:
    name, speedup = t(f"drafting.drafters.key.{point.key}"), _speedup(point.speedup, point.low, point.high)
    return [name, f"{point.cost_ratio:.3f}", _number(point.alpha), _number(point.tokens_per_round), speedup]


def _speedup(pooled: float | None, low: float | None, high: float | None) -> str:
    """With its interval, where there is one."""
    if pooled is None:
        return NONE
    return f"{pooled:.2f}×" + ("" if low is None or high is None else f" [{low:.2f}, {high:.2f}]")


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _where(dependence: Dependence) -> str:
    return t("drafting.acceptance.where", pair=dependence.pair, dtype=dependence.dtype, tokens=dependence.settings.max_new_tokens)


def _short(text: str, most: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
