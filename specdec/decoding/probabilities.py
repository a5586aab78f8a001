"""Logits to probabilities, and what is done with probabilities. Pure functions of float32 tensors.

Everything that is sampled, verified, recorded or drawn comes from `probabilities`, so the law that was
sampled is the law that is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from specdec.settings import Sampling

RESIDUAL_EPSILON = 1e-9
_TOP_P_FIRST_LOOK = 64
_GRID = 10**9
_AT_ONCE = 256
# A number below it may be 0 to float32, and a temperature or top_p of 0 is another thing.
_SMALLEST = torch.finfo(torch.float32).tiny


def probabilities(logits: Tensor, sampling: Sampling) -> Tensor:
    """Float32 probabilities [..., V] of logits [..., V]; ids at -inf get exactly 0.

    Temperature, then top-k, then top-p, as in `transformers`' warpers, but among equal scores the lower id
    comes first: exactly k ids stay, and top_k 1 is temperature 0, a one-hot on the first maximum. A row's law
    depends on its own logits alone, to the bit, whatever rows stand beside it. Logits that hold NaN or +inf,
    or nothing above -inf, have no law: the row is NaN throughout, see `lawless`.
    """
    logits = logits.float()
    peak = logits.amax(-1, keepdim=True)
    if sampling.temperature == 0:
        return _scattered(logits, logits.argmax(-1, keepdim=True), 1.0 + (peak - peak))
    # The maximum goes first: dividing by a tiny temperature must not overflow into inf - inf.
    scores = (logits - peak) / max(sampling.temperature, _SMALLEST)
    top_p = max(sampling.top_p, _SMALLEST)
    if 0 < sampling.top_k < scores.shape[-1]:
        ids = _order(scores).topk(sampling.top_k, largest=False).indices
        probs = scores.gather(-1, ids).softmax(-1)
    elif top_p < 1:
        ids, probs = _commonest(scores, top_p)
    else:
        probs = scores.softmax(-1)
        return probs / _total(probs)
    return _scattered(scores, ids, _nucleus(probs, top_p))


def _scattered(like: Tensor, ids: Tensor, probs: Tensor) -> Tensor:
    """`probs` at `ids` and 0 elsewhere; NaN throughout a row whose first value is NaN, which has no law."""
    first = probs[..., :1]
    return torch.zeros_like(like).scatter_(-1, ids, probs).add_(first - first)


def lawless(probs: Tensor) -> Tensor:
    """Which of the laws [..., V] are none, because their logits gave none: bool [...]."""
    return probs[..., 0].isnan()


def _order(scores: Tensor) -> Tensor:
    """Whole numbers that rise from the largest score to the least, all at most 0, and with the id among equal ones.

    `topk` alone orders equal values by k and by row, so the id becomes part of what is compared.
    """
    distance = scores.abs().view(torch.int32).long()  # a float's bits rise with it from 0 on
    return distance << 32 | torch.arange(scores.shape[-1], device=scores.device)


def _commonest(scores: Tensor, mass: float) -> tuple[Tensor, Tensor]:
    """Ids and probabilities of each row's likeliest ids, falling, at least as many as reach `mass`.

    A full sort of a large vocabulary is slow, and so many are rarely needed: look at 64 first, and at
    eight times as many while some row's mass is not reached.
    """
    size = scores.shape[-1]
    probs, order = scores.softmax(-1), _order(scores)
    k = 0
    while True:
        k = min(max(8 * k, _TOP_P_FIRST_LOOK), size)
        ids = order.topk(k, largest=False).indices
        kept = probs.gather(-1, ids)
        if k == size or not bool((kept.cumsum(-1, dtype=torch.float64)[..., -1] < mass).any()):
            return ids, kept


def _nucleus(probs: Tensor, top_p: float) -> Tensor:
    """Falling `probs` as a law, with 0 behind the one whose running sum reaches top_p; 1 keeps all.

    Running sums, not `sum`: they don't change with what follows, which is more where a neighbour needs more.
    """
    reached = probs.cumsum(-1, dtype=torch.float64).roll(1, -1)
    reached[..., 0] = 0
    if top_p < 1:  # rounding may carry the running sum to 1 before the last of them
        probs = probs.masked_fill(reached >= top_p, 0.0)
    return probs / probs.cumsum(-1, dtype=torch.float64)[..., -1:].float()


def _total(probs: Tensor) -> Tensor:
    """Sums over the last dimension, kept: float32 softmax over 50,000 ids is off by up to 1e-5, float64 mends it.

    A lone row is summed twice: torch splits a sum with one result over its threads, which rounds otherwise
    than the same row in company.
    """
    company = probs.expand(2, *probs.shape) if probs.numel() == probs.shape[-1] else probs[None]
    return company.sum(-1, keepdim=True, dtype=torch.float64)[0].float()


def draw(probs: Tensor, uniform: float | Tensor) -> Tensor:
    """The id at which the cumulative law of `probs` [..., V] passes `uniform` in (0, 1): inverse CDF.

    Returns int64 [...]; for one law [V] and n uniforms, int64 [n]. An id of probability 0
    is never drawn. The same uniform gives the same id, so a step can be replayed. The sum is kept in float64: over
    50,000 ids float32 would lose the tail. From no law (NaN) it returns some id, which nobody may use.
    """
    cumulative = probs.cumsum(-1, dtype=torch.float64)
    uniform = torch.as_tensor(uniform, dtype=torch.float64, device=probs.device)
    mark = (uniform * cumulative[..., -1]).unsqueeze(-1)
    return torch.searchsorted(cumulative, mark, right=True).squeeze(-1).clamp_max(probs.shape[-1] - 1)


def overlap(target_probs: Tensor, draft_probs: Tensor) -> Tensor:
    """beta = sum of min(p, q) over the last dimension, in [0, 1]: the chance that a draft is accepted.

    Summed in float64, as `residual_mass` is: the two must add up to 1.
    """
    return torch.minimum(target_probs, draft_probs).sum(-1, dtype=torch.float64)


def residual_mass(target_probs: Tensor, draft_probs: Tensor) -> Tensor:
    """Sum of max(0, p - q) over the last dimension = 1 - overlap: the chance of a rejection."""
    return (target_probs - draft_probs).clamp_min(0).sum(-1, dtype=torch.float64)


def residual(target_probs: Tensor, draft_probs: Tensor) -> Tensor:
    """The law of a replacement, max(0, p - q) / sum, [..., V] (Leviathan et al. 2023, algorithm 1).

    Where no mass is left (p equals q up to rounding) it is p: a rejection there has probability 0 up
    to rounding, and dividing 0 by 0 would make NaN.
    """
    excess = (target_probs - draft_probs).clamp_min(0)
    mass = excess.sum(-1, keepdim=True)
    return torch.where(mass > RESIDUAL_EPSILON, excess / mass.clamp_min(RESIDUAL_EPSILON), target_probs)


def entropy(probs: Tensor) -> Tensor:
    """Shannon entropy in nats over the last dimension; 0 log 0 = 0."""
    return torch.special.entr(probs).sum(-1)


def _endless(generator: np.random.Generator) -> Iterator[float]:
    """Drawn many at a time: between two model passes one call of numpy costs as much as a hundred numbers."""
    while True:
        yield from ((generator.integers(0, _GRID, size=_AT_ONCE) + 0.5) / _GRID).tolist()


class Uniforms:
    """A stream of uniforms in the open interval (0, 1), exact in JSON.

    Values lie on the decimal grid (k + 1/2) / 10**9: none is 0 or 1, a mass times one stays below that
    mass in float64, and ten digits write each of them down exactly.
    """

    def __init__(self, seed: np.random.SeedSequence):
        self._stream = _endless(np.random.Generator(np.random.PCG64(seed)))
        self._put: dict[int, float] = {}
        self._taken = 0

    def take(self, count: int) -> list[float]:
        values = list(islice(self._stream, count))
        for place in self._put:
            if 0 <= place - self._taken < count:
                values[place - self._taken] = self._put[place]
        self._taken += count
        return values

    def put(self, place: int, value: float) -> None:
        """Give `value` in place of the stream's own number that is `place` further on."""
        self._put[self._taken + place] = value

    def one(self) -> float:
        return self.take(1)[0]


class RandomStreams:
    """Three independent streams of one run, derived from its seed: drafts, coins, resampling.

    Independent because a coin that knows the draft's draw, or a replacement that knows the coin, bends
    the law. The global random state is neither read nor written.
    """

    def __init__(self, seed: int):
        self.drafts, self.coins, self.resampling = map(Uniforms, np.random.SeedSequence(seed).spawn(3))
