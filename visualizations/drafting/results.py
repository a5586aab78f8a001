"""What the sections of the tab "Drafting" come to, in a line each. Pure functions of the records that they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specdec.timing.comparison import Comparison
from specdec.timing.policies import PolicyRuns, cut_round, worth_of
from specdec.timing.records import Costs
from visualizations.drafting.words import best_drafter, policies_compared
from visualizations.figures.shared_machine import BATCHES, best_of
from visualizations.text import t

if TYPE_CHECKING:  # importing these costs torch
    from specdec.exactness.dependence import Dependence, Share
    from specdec.timing.drafters import Drafters

NOT_YET = "drafting.result.not_yet"


def policies_result(comparison: Comparison | None) -> str:
    """Whether a policy beats the best fixed length, out of how many ways."""
    if comparison is None:
        return t(NOT_YET)
    verdict, values = policies_compared(comparison)
    return t(f"drafting.result.policies.{verdict}", ways=len(comparison.ways) - 1, **values)


def threshold_result(runs: PolicyRuns, costs: Costs | None) -> str:
    """What the policy's own threshold leaves of the run with fixed length."""
    run, threshold = runs.run("fixed"), runs.settings.entropy_threshold
    if run is None or not run.rounds:
        return t(NOT_YET)
    cuts = [cut_round(round_, "entropy", threshold) for round_ in run.rounds]
    drafts = {"drafts": sum(cut.drafted for cut in cuts), "all": sum(len(round_.drafts) for round_ in run.rounds)}
    said = t("drafting.result.threshold", threshold=f"{threshold:g}", **drafts)
    if costs is None:
        return said
    return f"{said}; {t('drafting.result.predicted', speedup=f'{worth_of(cuts, costs)[1]:.2f}')}"


def dependence_result(record: Dependence, targets: tuple[Share, ...]) -> str:
    """The acceptance rate, and how it goes with the target's entropy."""
    if not record.facts:
        return t(NOT_YET)
    rate = sum(fact.accepted for fact in record.facts) / len(record.facts)
    said = t("drafting.result.acceptance", alpha=f"{rate:.2f}", n=len(record.facts))
    if len(targets) < 2:
        return said
    return f"{said}; {t('drafting.result.sure', sure=f'{targets[0].rate:.2f}', unsure=f'{targets[-1].rate:.2f}')}"


def worst_result(places: list[dict[str, Any]]) -> str:
    """From the least overlap to the most among the worst places."""
    if not places:
        return ""
    return t("drafting.result.worst", n=len(places), low=places[0]["beta"], high=places[-1]["beta"])


def drafters_result(drafters: Drafters) -> str:
    """The fastest drafter."""
    best = best_drafter(drafters)
    if best is None:
        return t(NOT_YET)
    low, high = ("–" if value is None else f"{value:.2f}" for value in (best.low, best.high))
    name = t(f"drafting.drafters.key.{best.key}")
    return t("drafting.result.drafters", name=name, speedup=f"{best.speedup:.2f}", low=low, high=high)


def shared_result(costs: Costs, alpha: float) -> str:
    """What the best draft length is worth for one text and for the most."""
    (_, first), *_, (_, last) = best_of(alpha, costs)
    return t("drafting.result.shared", alpha=f"{alpha:.2f}", first=f"{first:.2f}", last=f"{last:.2f}", most=BATCHES[-1])
