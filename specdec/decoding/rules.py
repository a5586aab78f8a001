"""Verification rules: which drafts stay, and from which law the next token is drawn.

A rule is called with the target's probabilities [n + 1, V] (row i: the place of draft i; row n: the
place after the last), the draft's probabilities [n, V], the drafted ids [n] and n coins in (0, 1).
Most rules test one draft after the other and stop at the first rejection: `DraftByDraft` needs only
their accept probability and their replacement's law. Block verification judges the block as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from specdec.decoding.probabilities import RESIDUAL_EPSILON, entropy, residual
from specdec.settings import Settings


@dataclass(frozen=True)
class Verdict:
    """What a rule decided; tensors stay on the device, so that a round reads the host only once.

    accepted: int64 [], drafts kept, 0..n. accept_probabilities: float [n], what each coin was held against.
    next_probs: float [V], the law of the one token that follows the kept drafts: a replacement's
    after a rejection, the target's own (bonus) when all were kept. whole_block: every coin was thrown,
    also those behind a rejected draft. withdrawn: what was not kept counts as never drafted.
    """

    accepted: Tensor
    accept_probabilities: Tensor
    next_probs: Tensor
    whole_block: bool = False
    withdrawn: bool = False


class Rule(Protocol):
    """See the module's docstring."""

    def __call__(self, target_probs: Tensor, draft_probs: Tensor, draft_ids: Tensor, coins: Tensor) -> Verdict: ...


Accept = Callable[[Tensor, Tensor, Tensor], Tensor]
Replacement = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class DraftByDraft:
    """A rule that stops at the first rejection.

    accept(p [n, V], q [n, V], ids [n]) -> [n], the probability that each draft is accepted; one row
    [1, V] stands for n equal ones.
    replacement(p [V], q [V], rejected id []) -> [V], the law of the token put in its place.
    A draft is kept iff coin < probability: strictly, so that p = 0 is rejected whatever the coin.
    """

    accept: Accept
    replacement: Replacement

    def __call__(self, target_probs: Tensor, draft_probs: Tensor, draft_ids: Tensor, coins: Tensor) -> Verdict:
        drafted = len(draft_ids)
        probabilities = self.accept(target_probs[:drafted], draft_probs, draft_ids)
        accepted = (coins < probabilities).long().cumprod(-1).sum()
        if not drafted:
            return Verdict(accepted, probabilities, target_probs[-1])
        place = accepted.clamp_max(drafted - 1).reshape(1)
        law = self.replacement(*(rows.index_select(0, place)[0] for rows in (target_probs, draft_probs, draft_ids)))
        return Verdict(accepted, probabilities, torch.where(accepted < drafted, law, target_probs[-1]))


def ratio(p: Tensor, q: Tensor, ids: Tensor) -> Tensor:
    """min(1, p(x) / q(x)): Leviathan et al. 2023, algorithm 1; Chen et al. 2023, algorithm 2."""
    return (_at(p, ids) / _at(q, ids)).clamp_max(1)


def target_probability(p: Tensor, q: Tensor, ids: Tensor) -> Tensor:
    """p(x): the chance that the target's own draw is the draft."""
    return _at(p, ids)


def lenient_ratio(p: Tensor, q: Tensor, ids: Tensor, *, lenience: float) -> Tensor:
    """min(1, p(x) / (l q(x))), l in (0, 1]: Leviathan et al. 2023, appendix A.5."""
    return (_at(p, ids) / (lenience * _at(q, ids))).clamp_max(1)


def ensemble_ratio(p: Tensor, q: Tensor, ids: Tensor, *, weight: float) -> Tensor:
    """min(1, m(x) / q(x)) with m = w p + (1 - w) q in the target's place."""
    return (weight * _at(p, ids) / _at(q, ids) + 1 - weight).clamp_max(1)


def typical(p: Tensor, q: Tensor, ids: Tensor, *, epsilon: float, delta: float) -> Tensor:
    """1 where p(x) > min(epsilon, delta exp(-H(p))), else 0: Cai et al. 2024 (Medusa), section 2.3.1."""
    return (_at(p, ids) > typical_threshold(p, epsilon, delta)).float()


def typical_threshold(p: Tensor, epsilon: float, delta: float) -> Tensor:
    """min(epsilon, delta exp(-H)) of laws [..., V]: [...]."""
    return (delta * torch.exp(-entropy(p))).clamp_max(epsilon)


def from_residual(p: Tensor, q: Tensor, rejected: Tensor) -> Tensor:
    """max(0, p - q) / sum: what the target still lacks."""
    return residual(p, q)


def from_target(p: Tensor, q: Tensor, rejected: Tensor) -> Tensor:
    """p itself."""
    return p


def from_target_without_rejected(p: Tensor, q: Tensor, rejected: Tensor) -> Tensor:
    """p given that the token is not the rejected one."""
    return residual(p, torch.zeros_like(p).scatter_(-1, rejected.unsqueeze(-1), 1.0))


def block(target_probs: Tensor, draft_probs: Tensor, draft_ids: Tensor, coins: Tensor) -> Verdict:
    """Block verification: keep the drafts up to the LAST one whose coin passes.

    Sun et al. 2024, "Block Verification Accelerates Speculative Decoding", algorithm 2. Exact, and no
    exact rule that looks at one block keeps more drafts on average. w[i] is the joint ratio after i
    drafts, w[i] = min(1, w[i-1] p/q); the residual after i drafts is max(0, w[i] p - q).
    """
    drafted = len(draft_ids)
    joint = _joint_ratios(_at(target_probs[:drafted], draft_ids), _at(draft_probs, draft_ids))
    scaled = joint[:-1, None] * target_probs[:drafted]
    lacking = (scaled - draft_probs).clamp_min(0)
    mass = lacking.sum(-1)
    passes = mass / (mass + (1 - joint[:-1]))  # 1 - w first: a small mass would drown in 1
    passes = passes.nan_to_num(1.0)  # 0 / 0: nothing is refused so far, and nothing will be next
    probabilities = torch.cat([passes[1:], joint[-1:]])[:drafted]
    places = torch.arange(1, drafted + 1, device=coins.device)
    accepted = (places * (coins < probabilities)).amax() if drafted else places.sum()
    # The row behind the last draft has q = 0 and weight 1: its "residual" is the target's own law.
    rows = torch.cat([lacking, target_probs[-1:]])
    law = rows.index_select(0, accepted.reshape(1))[0]
    total = law.sum()
    fallback = target_probs.index_select(0, accepted.reshape(1))[0]
    return Verdict(accepted, probabilities, torch.where(total > RESIDUAL_EPSILON, law / total, fallback), whole_block=True)


def peeking(target_probs: Tensor, draft_probs: Tensor, draft_ids: Tensor, coins: Tensor) -> Verdict:
    """Stop drafting in front of the draft that would be rejected, and let the target go on from there.

    The fault of a draft length that depends on the target or the coins: its law is that of refilling from p.
    """
    verdict = DraftByDraft(ratio, from_target)(target_probs, draft_probs, draft_ids, coins)
    return replace(verdict, withdrawn=True)


def _joint_ratios(p: Tensor, q: Tensor) -> Tensor:
    """w [n + 1] of drafts whose probabilities are p [n] and q [n]; w[0] = 1."""
    joint = [torch.ones((), device=p.device)]
    for step in p / q:
        joint.append((joint[-1] * step).clamp_max(1))
    return torch.stack(joint)


def rule_of(settings: Settings) -> Rule:
    """The rule that `settings` name, with their parameters.

    `raw_draft` and `argmax_draft` are the token rule: their fault is that the drafter reports a law it didn't
    sample from.
    """
    return {
        "token": DraftByDraft(ratio, from_residual),
        "match": DraftByDraft(target_probability, from_target_without_rejected),
        "block": block,
        "no_residual": DraftByDraft(ratio, from_target),
        "typical": DraftByDraft(
            partial(typical, epsilon=settings.typical_epsilon, delta=settings.typical_delta), from_target
        ),
        "lenient": DraftByDraft(partial(lenient_ratio, lenience=settings.lenience), from_residual),
        "raw_draft": DraftByDraft(ratio, from_residual),
        "peeking": peeking,
        "argmax_draft": DraftByDraft(ratio, from_residual),
        "ensemble": DraftByDraft(partial(ensemble_ratio, weight=settings.target_weight), from_residual),
    }[settings.rule]


def _at(probs: Tensor, ids: Tensor) -> Tensor:
    return torch.take_along_dim(probs, ids.unsqueeze(-1), dim=-1).squeeze(-1)
