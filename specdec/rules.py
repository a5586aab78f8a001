"""Verification rules: which drafts stay, and from which law the next token is drawn.

A rule is a function of the target's probabilities [n + 1, V] (row i: the place of draft i; row n: the
place after the last), the draft's probabilities [n, V], the drafted ids [n] and n coins in (0, 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec.probabilities import residual


@dataclass(frozen=True)
class Verdict:
    """What a rule decided.

    accepted: drafts kept, 0..n. accept_probabilities: float [n], the chance each draft had.
    next_probs: float [V], the law of the one token that follows the kept drafts: a replacement's
    after a rejection, the target's own (bonus) when all were kept.
    """

    accepted: int
    accept_probabilities: Tensor
    next_probs: Tensor


Rule = Callable[[Tensor, Tensor, Tensor, Tensor], Verdict]


def token(target_probs: Tensor, draft_probs: Tensor, draft_ids: Tensor, coins: Tensor) -> Verdict:
    """Speculative sampling: accept with min(1, p/q), replace from max(0, p - q) / sum.

    Leviathan et al. 2023, algorithm 1; Chen et al. 2023, algorithm 2. Exact; accepts sum min(p, q).
    """
    p, q = _of_drafts(target_probs, draft_ids), _of_drafts(draft_probs, draft_ids)
    accept_probabilities = (p / q).clamp_max(1)
    accepted = _kept_before_first_rejection(accept_probabilities, coins)
    if accepted == len(draft_ids):
        return Verdict(accepted, accept_probabilities, target_probs[-1])
    return Verdict(accepted, accept_probabilities, residual(target_probs[accepted], draft_probs[accepted]))


def match(target_probs: Tensor, draft_probs: Tensor, draft_ids: Tensor, coins: Tensor) -> Verdict:
    """Sample and match: the target makes its own draw; the draft is accepted if it is that draw.

    Written as an accept test: the target's draw is the draft x with probability p(x), and given that
    it is another id it has law p without x. Same joint law of (accepted, emitted). Exact; accepts
    sum p q.
    """
    accept_probabilities = _of_drafts(target_probs, draft_ids)
    accepted = _kept_before_first_rejection(accept_probabilities, coins)
    if accepted == len(draft_ids):
        return Verdict(accepted, accept_probabilities, target_probs[-1])
    one_hot = torch.zeros_like(target_probs[accepted]).scatter_(0, draft_ids[accepted], 1.0)
    return Verdict(accepted, accept_probabilities, residual(target_probs[accepted], one_hot))


RULES: dict[str, Rule] = {"token": token, "match": match}


def _of_drafts(probs: Tensor, draft_ids: Tensor) -> Tensor:
    return probs[: len(draft_ids)].gather(-1, draft_ids.unsqueeze(-1)).squeeze(-1)


def _kept_before_first_rejection(accept_probabilities: Tensor, coins: Tensor) -> int:
    """Strict comparison: a draft with p = 0 is rejected whatever the coin."""
    return int((coins < accept_probabilities).long().cumprod(-1).sum())
