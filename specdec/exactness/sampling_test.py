"""A test of exactness that can fail: many tokens at one context, held against the target's law.

The tokens are made by the rule's own accept and replacement functions, all draws at once; the random
numbers come from the same three independent streams as in a run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import optimize, stats
from torch import Tensor

from specdec.decoding.probabilities import RandomStreams, draw
from specdec.decoding.rules import DraftByDraft, from_target_without_rejected, rule_of
from specdec.exactness.laws import total_variation
from specdec.models.cancelling import Check, go_on
from specdec.settings import Settings

FALSE_ALARM_RATE = 1e-4
POWER = 0.9
SMALLEST_EXPECTED = 10.0
CHECKPOINTS_PER_DECADE = 8


@dataclass(frozen=True)
class ChiSquare:
    """Pearson's test of counts against a law; cells that expect fewer than 10 are pooled into one that doesn't.

    passed: p_value >= `FALSE_ALARM_RATE`, so a correct engine fails once in 10,000 tests.
    impossible: draws of ids that the law gives probability 0; any at all is a failure.
    detectable: the smallest bias w = sqrt(sum (law' - law)^2 / law) that n draws reveal in 9 tests of
    10; a total variation of w / 2 or more between the cells always implies such a bias.
    """

    n: int
    statistic: float
    degrees_of_freedom: int
    p_value: float
    impossible: int
    detectable: float

    @property
    def passed(self) -> bool:
        return self.impossible == 0 and self.p_value >= FALSE_ALARM_RATE


@dataclass(frozen=True)
class SamplingTest:
    """A finished test. ids: int64 [n] in the order drawn; accepted: bool [n].

    checkpoints: growing numbers of draws; distances: total variation of the frequencies from the law
    after each; expected_distances: what an exact sampler shows there on average, about 1 / sqrt(n).
    """

    rule: str
    law: Tensor
    ids: Tensor
    accepted: Tensor
    counts: Tensor
    chi_square: ChiSquare
    checkpoints: tuple[int, ...]
    distances: tuple[float, ...]
    expected_distances: tuple[float, ...]

    @property
    def acceptance(self) -> float:
        return float(self.accepted.double().mean())


def sampling_test(
    target: Tensor,
    draft: Tensor,
    settings: Settings,
    n: int,
    *,
    reported: Tensor | None = None,
    check: Check = go_on,
) -> SamplingTest:
    """Emit `n` first tokens with the rule and seed of `settings` and test them against `target` [V].

    draft: q, [V]. reported: the q that the rule is told (the `MISREPORTING_RULES` are told another). check: see `judged`.
    """
    return judged(settings.rule, target, *emit_many(target, draft, settings, n, reported=reported), check=check)


def judged(rule: str, law: Tensor, ids: Tensor, accepted: Tensor, *, check: Check = go_on) -> SamplingTest:
    """Test ids [n] that were emitted under `rule`, whether by accepting the draft or not [n], against `law` [V].

    check: called again and again while this goes on; what it raises ends it.
    """
    counts = torch.bincount(ids, minlength=len(law))
    checkpoints, distances, expected = _checkpoints(len(ids)), [], []
    for size in checkpoints:
        check()
        distances.append(_distance(ids[:size], law))
        expected.append(expected_distance(law, size))
    return SamplingTest(
        rule=rule,
        law=law,
        ids=ids,
        accepted=accepted,
        counts=counts,
        chi_square=chi_square(counts, law),
        checkpoints=checkpoints,
        distances=tuple(distances),
        expected_distances=tuple(expected),
    )


def emit_many(
    target: Tensor, draft: Tensor, settings: Settings, n: int, *, reported: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """`n` independent first tokens and whether each was the draft: int64 [n], bool [n]."""
    streams = RandomStreams(settings.seed)
    rule = one_position_rule(settings)
    told = draft if reported is None else reported
    drafts = draw(draft, torch.tensor(streams.drafts.take(n), dtype=torch.float64))
    chances = rule.accept(target.unsqueeze(0), told.unsqueeze(0), drafts)
    accepted = torch.tensor(streams.coins.take(n), dtype=torch.float64) < chances
    uniforms = torch.tensor(streams.resampling.take(n), dtype=torch.float64)
    ids = drafts.clone()
    ids[~accepted] = _replacements(rule, target, told, drafts[~accepted], uniforms[~accepted])
    return ids, accepted


def _replacements(rule: DraftByDraft, target: Tensor, told: Tensor, rejected: Tensor, uniforms: Tensor) -> Tensor:
    """One token in the place of each rejected id [m].

    All rules but one draw from a law that is the same whatever was rejected. The one that draws from p
    without the rejected id would need a law for each; its inverse CDF is p's, stepping over that id.
    """
    if not len(rejected):
        return rejected
    if rule.replacement is not from_target_without_rejected:
        return draw(rule.replacement(target, told, rejected[0]), uniforms)
    cumulative = target.cumsum(-1, dtype=torch.float64)
    gap = target[rejected].double()
    marks = uniforms * (cumulative[-1] - gap)
    return torch.searchsorted(cumulative, marks + gap * (marks >= cumulative[rejected] - gap), right=True)


# Rules that look at a whole block, and the rule that decides alike where the block is one draft.
_AT_ONE_POSITION = {"block": "token", "peeking": "no_residual"}


def one_position_rule(settings: Settings) -> DraftByDraft:
    """The rule at a single position, as one that tests draft by draft."""
    return rule_of(settings.changed(rule=_AT_ONE_POSITION.get(settings.rule, settings.rule)))


def chi_square(counts: Tensor, law: Tensor) -> ChiSquare:
    """Test counts [V] against `law` [V], with rare cells pooled into one.

    A pool that is itself rare takes the least common cell in: one draw where 0.02 are expected, which
    happens in 2 tests of 100, would count as 48. Where that would leave a single cell, the rare draws'
    number is judged by the binomial law itself.
    """
    n = int(counts.sum())
    expected = law.double() / law.double().sum() * n
    common = expected >= SMALLEST_EXPECTED
    if common.sum() > 1 and 0 < float(expected[~common].sum()) < SMALLEST_EXPECTED:
        common[torch.where(common, expected, torch.inf).argmin()] = False
    observed_cells, expected_cells = counts[common].double(), expected[common]
    if float(expected[~common].sum()) > 0:
        observed_cells = torch.cat([observed_cells, counts[~common].sum().double().reshape(1)])
        expected_cells = torch.cat([expected_cells, expected[~common].sum().reshape(1)])
    freedom = len(expected_cells) - 1
    statistic = float(((observed_cells - expected_cells) ** 2 / expected_cells).sum())
    if freedom == 1 and expected_cells[-1] < SMALLEST_EXPECTED:
        p_value = float(stats.binom.sf(float(observed_cells[-1]) - 1, n, float(expected_cells[-1]) / n))
    else:
        p_value = float(stats.chi2.sf(statistic, freedom)) if freedom else 1.0
    return ChiSquare(
        n=n,
        statistic=statistic,
        degrees_of_freedom=freedom,
        p_value=p_value,
        impossible=int(counts[law == 0].sum()),
        detectable=_detectable(freedom, n),
    )


def expected_distance(law: Tensor, n: int) -> float:
    """Mean total variation between `law` and the frequencies of n exact draws.

    Half the sum of the binomials' mean absolute deviations, which De Moivre gave in closed form.
    """
    p = law[law > 0].double().numpy()
    rare, common = p[n * p < 1], p[n * p >= 1]
    of_rare = rare * (1 - rare) ** n  # the binomial's value at 0, without the cost of the general one
    of_common = common * (1 - common) * stats.binom.pmf(np.floor(n * common), n - 1, common)
    return float(of_rare.sum() + of_common.sum())


def _detectable(freedom: int, n: int) -> float:
    if not freedom:
        return float("inf")
    limit = stats.chi2.isf(FALSE_ALARM_RATE, freedom)
    strength = optimize.brentq(lambda x: stats.ncx2.sf(limit, freedom, x) - POWER, 1e-6, 50 * (limit + 10))
    return float((strength / n) ** 0.5)


def _checkpoints(n: int) -> tuple[int, ...]:
    steps = range(CHECKPOINTS_PER_DECADE, 8 * CHECKPOINTS_PER_DECADE)
    sizes = {n} | {int(10 ** (step / CHECKPOINTS_PER_DECADE)) for step in steps}
    return tuple(sorted(size for size in sizes if size <= n))


def _distance(ids: Tensor, law: Tensor) -> float:
    return total_variation(torch.bincount(ids, minlength=len(law)).double() / len(ids), law.double())
