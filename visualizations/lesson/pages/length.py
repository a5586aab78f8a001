"""Page 12: how long a draft should be, for one text and on a machine full of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from specdec.exactness.theory import best_shared
from specdec.timing.comparison import Comparison
from specdec.timing.policies import PolicyRun, PolicyRuns, cut_round, worth_of
from specdec.timing.records import Costs
from visualizations.drafting.records import FOLDER
from visualizations.drafting.tab import RECORDED_WAY
from visualizations.drafting.threshold import ThresholdView
from visualizations.drafting.threshold.component import MOST_NATS, threshold_value
from visualizations.drafting.words import threshold_caption
from visualizations.figures.shared_machine import BATCHES, most_tokens
from visualizations.lesson.page import Page
from visualizations.lesson.written import written_choice, written_page
from visualizations.text import t

KEY = "length"
STEP = 0.05  # of the slider, in nats


@dataclass(frozen=True)
class Cutting:
    """What is left of a run when drafting stops at a threshold. speedup: predicted from measured costs."""

    threshold: float
    kept: int
    wasted: int
    per_round: float
    speedup: float


@dataclass(frozen=True)
class Lengths:
    """The records of the tab "Drafting" that tell lengths; reading its others costs torch."""

    policy_runs: PolicyRuns
    policies: Comparison
    costs: Costs

    @property
    def run(self) -> PolicyRun:
        """The run with fixed length."""
        run = self.policy_runs.run("fixed")
        if run is None:
            raise ValueError("The record has no run with fixed length.")
        return run

    @property
    def alpha(self) -> float:
        row = self.policies.row(self.policies.way(RECORDED_WAY))
        return (row.acceptance_rate if row else None) or 0.5


@lru_cache(maxsize=1)
def recorded_lengths() -> Lengths:
    """Read once."""
    return Lengths(**FOLDER.read({"policy_runs": PolicyRuns, "policies": Comparison, "costs": Costs}))


def length_page() -> Page:
    """The threshold of the draft's entropy that is worth most."""
    lengths = recorded_lengths()
    numbers: dict[str, object] = {"most_drafts": lengths.policy_runs.settings.gamma}
    for name, cutting in candidate_thresholds(lengths).items():
        numbers |= {
            f"{name}_nats": f"{cutting.threshold:.2f}",
            f"{name}_speedup": f"{cutting.speedup:.2f}",
            f"{name}_round": f"{cutting.per_round:.2f}",
            f"{name}_wasted": cutting.wasted,
            f"{name}_kept": cutting.kept,
        }
    numbers |= _measured(lengths) | _shared(lengths)
    return written_page(KEY, _figure, written_choice(KEY, "best", numbers), numbers)


def candidate_thresholds(lengths: Lengths) -> dict[str, Cutting]:
    """By what someone may want: nothing wasted, the most speed, no kept draft lost, the most tokens a round."""
    cuttings = [cut_at(lengths, STEP * step) for step in range(round(MOST_NATS / STEP) + 1)]
    all_kept = sum(round_.accepted for round_ in lengths.run.rounds)
    return {
        "careful": cuttings[0],
        "best": max(cuttings, key=lambda cutting: cutting.speedup),
        "none_lost": next(cutting for cutting in cuttings if cutting.kept == all_kept),
        "long": cuttings[-1],
    }


def cut_at(lengths: Lengths, threshold: float) -> Cutting:
    """The run with fixed length, cut behind the first draft whose law has more than `threshold` nats."""
    cuts = [cut_round(round_, "entropy", threshold) for round_ in lengths.run.rounds]
    per_round, speedup = worth_of(cuts, lengths.policies.costs)
    return Cutting(threshold, sum(cut.accepted for cut in cuts), sum(cut.wasted for cut in cuts), per_round, speedup)


def _measured(lengths: Lengths) -> dict[str, object]:
    """The best fixed length and the best policy, as measured."""
    policies = lengths.policies
    plain = policies.way("plain")
    results = [policies.result(way, plain) for way in range(len(policies.ways)) if way != plain]
    fastest = {}
    for fixed in (True, False):
        of_kind = [r for r in results if (policies.ways[r.way].settings.policy == "fixed") is fixed]
        fastest[fixed] = max(of_kind, key=lambda result: result.speedup.pooled)
    settings = policies.ways[fastest[True].way].settings
    policy = policies.ways[fastest[False].way].settings.policy
    said: dict[str, object] = {"gamma": settings.gamma, "policy": t(f"drafting.columns.policy.{policy}")}
    for name, result in (("fixed", fastest[True]), ("varied", fastest[False])):
        ratio = result.speedup
        said |= {name: f"{ratio.pooled:.2f}", f"{name}_low": f"{ratio.low:.2f}", f"{name}_high": f"{ratio.high:.2f}"}
    return said


def _shared(lengths: Lengths) -> dict[str, object]:
    """The best length for one text, and for as many at once as were computed."""
    costs, alpha = lengths.costs, lengths.alpha
    said: dict[str, object] = {"alpha": f"{alpha:.2f}", "most": BATCHES[-1]}
    for name, batch in (("one", BATCHES[0]), ("many", BATCHES[-1])):
        gamma, speedup = best_shared(alpha, batch, costs.draft_seconds, costs.target_seconds, most_tokens(costs))
        said |= {f"{name}_gamma": gamma, f"{name}_speedup": f"{speedup:.2f}"}
    return said


def _figure() -> ThresholdView:
    lengths = recorded_lengths()
    value = threshold_value(lengths.policy_runs, lengths.policies.costs, threshold_caption(lengths.policy_runs))
    return ThresholdView(value, elem_id="lesson-length-view")
