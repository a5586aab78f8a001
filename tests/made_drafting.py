"""Records of drafting with numbers that can be checked by hand. No model, no clock.

Costs are those of `made_timings`: a pass over n tokens 20 ms + 1 ms for each further token, a draft step 5 ms, c = 0.25.
"""

from __future__ import annotations

from typing import Any

from specdec.settings import POLICIES, Settings
from specdec.timing.comparison import Comparison, PromptNote, Sample, Way
from specdec.timing.policies import Draft, DraftedRound, PolicyRun, PolicyRuns
from specdec.timing.statistics import results_of, rows_of
from tests.made_timings import DTYPE, HARDWARE, PAIR, made_costs, made_run

MOST = 8
# (chance, entropy) of each draft, tested, accepted
ROUNDS = (
    (((0.9, 0.1), (0.8, 0.5), (0.3, 1.5), (0.6, 0.7), (0.2, 3.0), (0.9, 0.2), (0.9, 0.2), (0.9, 0.2)), 5, 4),
    (((0.3, 2.0), (0.9, 0.3), (0.9, 0.3), (0.9, 0.3), (0.9, 0.3), (0.9, 0.3), (0.9, 0.3), (0.9, 0.3)), 1, 0),
    (((0.9, 0.1),) * 8, 8, 8),
)


def made_round(drafts: Any, tested: int, accepted: int, stopped: str = "limit") -> DraftedRound:
    made = tuple(Draft(7, " <b>${x}", chance, entropy) for chance, entropy in drafts)
    return DraftedRound(MOST, stopped, None, tested, accepted, accepted + 1, made)


def made_policy_runs() -> PolicyRuns:
    """The same rounds under every policy, one fewer under each that follows."""
    rounds = tuple(made_round(*round_) for round_ in ROUNDS)
    runs = tuple(PolicyRun(policy, rounds if index == 0 else rounds[: 1 + index % 2]) for index, policy in enumerate(POLICIES))
    settings = Settings(gamma=MOST, temperature=1.0)
    return PolicyRuns(HARDWARE, PAIR, DTYPE, "A <i>prompt</i> ${x}", settings, runs, len(runs), len(runs))


def made_policies(slowness: float = 0.04, repeats: int = 6) -> Comparison:
    """Fixed lengths and policies; a policy's run has 4 drafts a round. slowness: seconds that it loses in a run."""
    base = Settings(temperature=0.0, max_new_tokens=100)
    ways = [Way("plain", "specdec", base.changed(gamma=0))]
    ways += [Way(f"model_fixed_{gamma}", "specdec", base.changed(gamma=gamma)) for gamma in (2, 4)]
    ways += [Way(f"model_{policy}_8", "specdec", base.changed(gamma=8, policy=policy)) for policy in POLICIES[1:]]
    runs = [made_run(0), made_run(2), made_run(4), *(made_run(2, loop=slowness) for _ in POLICIES[1:])]
    samples = [Sample(way, 0, repeat, repeat, runs[way]) for repeat in range(repeats) for way in range(len(ways))]
    costs = made_costs()
    return Comparison(
        HARDWARE, PAIR, DTYPE, (PromptNote("A prompt", 9),), tuple(ways), len(ways), repeats, len(samples), len(samples),
        tuple(samples), costs, rows_of(tuple(ways), 1, samples), results_of(tuple(ways), samples, costs), True,
    )  # fmt: skip


def made_dependence() -> Any:
    """Ten places of two prompts: half accepted at place 1, all at place 2."""
    from specdec.exactness.dependence import Dependence, DraftFact, PromptKind

    facts = [
        DraftFact(0, 1, index % 2 == 0, 0.5 + 0.05 * index, 0.2 * index, 0.3 * index, None if index == 9 else 0.02 * index, "new_word")
        for index in range(10)
    ]
    facts += [DraftFact(1, 2, True, 0.98, 0.1, 0.05, 0.0002, "inside_word") for _ in range(5)]
    prompts = (PromptKind("code", "Write"), PromptKind("story", "Once"))
    return Dependence(PAIR, "cpu", DTYPE, Settings(), prompts, tuple(facts), 2, 2)


def made_drafters() -> Any:
    from specdec.timing.drafters import DrafterPoint, Drafters

    def point(key: str, c: float, alpha: float | None, speedup: float | None) -> DrafterPoint:
        return DrafterPoint(key, c, alpha, 2.0, 3.0, speedup, speedup and speedup - 0.1, speedup and speedup + 0.1)

    points = (
        point("model", 0.07, 0.55, 1.4), point("prompt_lookup", 0.0, 0.3, 1.1), point("lookup_then_model", 0.06, 0.6, 1.5),
        point("target", 1.0, 1.0, 0.9), point("head_4096", 0.04, None, None),
    )  # fmt: skip
    return Drafters(HARDWARE, PAIR, DTYPE, Settings(temperature=0.0), 6, made_costs(tuple(range(1, 6))), points, 70, 70)
