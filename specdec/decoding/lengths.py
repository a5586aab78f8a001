"""How many tokens a round drafts: policies that look at drafts and at earlier rounds, and at nothing else.

A policy is a value: what it learned from a round is another policy. It never sees the target's law of the round
in hand, nor its coins. That is what keeps every exact rule exact: given what was drafted, the verdict is the
same whatever made the drafting stop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul
from typing import Literal, Protocol

from torch import Tensor

from specdec.decoding.probabilities import entropy
from specdec.settings import Settings

START_LENGTH, LENGTH_UP, LENGTH_DOWN = 5, 2, 1
# A rate before anything was tested, how far one verdict moves it, and how far a round without drafts moves it back.
PRIOR_RATE, RATE_STEP, RATE_RETURN = 0.6, 0.1, 0.05


@dataclass(frozen=True)
class Doubt:
    """Why a policy stops drafting: what it looked at, and the value that crossed its threshold."""

    reason: Literal["confidence", "entropy"]
    value: float


class LengthPolicy(Protocol):
    """See the module's docstring."""

    @property
    def limit(self) -> int:
        """The most drafts of the next round, from earlier rounds alone."""
        ...

    def doubt(self, logits: Tensor, law: Tensor, draft_id: Tensor) -> Doubt | None:
        """Why drafting should stop behind this draft, which is kept; None: it goes on.

        logits [V]: the draft model's. law [V]: what the draft was drawn from. draft_id [1].
        """
        ...

    def after(self, drafted: int, tested: int, accepted: int) -> LengthPolicy:
        """The policy for the next round, from the counts of this one."""
        ...


@dataclass(frozen=True)
class Fixed:
    """Always gamma."""

    limit: int

    def doubt(self, logits: Tensor, law: Tensor, draft_id: Tensor) -> Doubt | None:
        return None

    def after(self, drafted: int, tested: int, accepted: int) -> Fixed:
        return self


@dataclass(frozen=True)
class Heuristic:
    """Two more after a round whose drafts were all accepted, else one fewer, at least one and at most `most`.

    As the schedule "heuristic" of `transformers`, which starts at 5; here it starts anew in each run.
    """

    most: int
    length: int = START_LENGTH

    @property
    def limit(self) -> int:
        return min(self.length, self.most)

    def doubt(self, logits: Tensor, law: Tensor, draft_id: Tensor) -> Doubt | None:
        return None

    def after(self, drafted: int, tested: int, accepted: int) -> Heuristic:
        if not drafted:
            return self
        length = self.limit + LENGTH_UP if accepted == drafted else max(1, self.limit - LENGTH_DOWN)
        return replace(self, length=length)


@dataclass(frozen=True)
class Confident(Fixed):
    """Up to gamma; stop behind a draft that the draft model itself gave less than `threshold`.

    As `assistant_confidence_threshold` of `transformers`: by the law that drew it, a greedy one by the law at
    temperature 1.
    """

    threshold: float = 0.4

    def doubt(self, logits: Tensor, law: Tensor, draft_id: Tensor) -> Doubt | None:
        chance = float(law.gather(-1, draft_id))
        if chance == 1.0:  # a greedy draft is certain whatever the model thought; what it thought is asked
            chance = float(logits.softmax(-1).gather(-1, draft_id))
        return Doubt("confidence", chance) if chance < self.threshold else None


@dataclass(frozen=True)
class Certain(Fixed):
    """Up to gamma; stop behind a draft whose law at temperature 1, all ids in it, has more than `threshold` nats.

    Zhang et al. 2024, SVIP (arXiv 2411.18462): overlap >= 1 - sqrt(KL / 2) falls as the draft's entropy rises;
    their sqrt(0.15 H) > 0.3 is H > 0.6.
    """

    threshold: float = 0.6

    def doubt(self, logits: Tensor, law: Tensor, draft_id: Tensor) -> Doubt | None:
        nats = float(entropy(logits.softmax(-1)))
        return Doubt("entropy", nats) if nats > self.threshold else None


@dataclass(frozen=True)
class Expected:
    """The length with the largest (1 + sum of products of the rates) / (length * c + v).

    rates: of each place of a draft, the running share of accepted among tested; as many as may be drafted.
    draft_cost: c, a draft step in target passes. token_cost: what each further token adds to a target pass of
    one token, so v = 1 + length * token_cost. 0 drafts are possible; after such a round the rates return a
    little to where they began, so that drafting is tried again.
    """

    rates: tuple[float, ...]
    draft_cost: float
    token_cost: float

    @property
    def limit(self) -> int:
        reached = [0.0, *accumulate(accumulate(self.rates, mul))]
        speedups = [(1 + more) / (1 + n * (self.draft_cost + self.token_cost)) for n, more in enumerate(reached)]
        return speedups.index(max(speedups))

    def doubt(self, logits: Tensor, law: Tensor, draft_id: Tensor) -> Doubt | None:
        return None

    def after(self, drafted: int, tested: int, accepted: int) -> Expected:
        if not drafted:
            return replace(self, rates=tuple(rate + RATE_RETURN * (PRIOR_RATE - rate) for rate in self.rates))
        verdicts = [1.0] * accepted + [0.0] * (tested - accepted)
        moved = [rate + RATE_STEP * (verdict - rate) for rate, verdict in zip(self.rates, verdicts)]
        return replace(self, rates=(*moved, *self.rates[len(moved) :]))


def policy_of(settings: Settings) -> LengthPolicy:
    """The policy that `settings` name, as it is at the start of a run."""
    most = settings.gamma
    return {
        "fixed": lambda: Fixed(most),
        "heuristic": lambda: Heuristic(most),
        "confidence": lambda: Confident(most, settings.confidence_threshold),
        "entropy": lambda: Certain(most, settings.entropy_threshold),
        "expected": lambda: Expected((PRIOR_RATE,) * most, settings.draft_cost, settings.token_cost),
    }[settings.policy]()
