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

    Temperature, then top-k, then top-p, each as in `transformers`' warpers. Temperature 0 gives a
    one-hot on the first maximum.
    """
    logits = logits.float()
    if sampling.temperature == 0:
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
    # The maximum goes first: dividing by a tiny temperature must not overflow into inf - inf.
    scores = (logits - logits.amax(-1, keepdim=True)) / max(sampling.temperature, _SMALLEST)
    top_p = max(sampling.top_p, _SMALLEST)
    if 0 < sampling.top_k < scores.shape[-1]:
        ids, probs = _top_k(scores, sampling.top_k)
    elif top_p < 1:
        ids, probs = _commonest(scores.softmax(-1), top_p)
    else:
        return _normalised(scores.softmax(-1))
    return torch.zeros_like(scores).scatter_(-1, ids, _normalised(_nucleus(probs, top_p)))


def _top_k(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Ids and law of each row's k largest scores, falling; those that tie with the k-th stay."""
    top = scores.topk(k)
    smallest = top.values[..., -1:]
    tied = int((scores >= smallest).sum(-1).max())
    if tied > k:
        top = scores.topk(tied)
    return top.indices, top.values.masked_fill(top.values < smallest, -torch.inf).softmax(-1)


def _commonest(probs: Tensor, mass: float) -> tuple[Tensor, Tensor]:
    """Ids and probabilities of each row's commonest ids, falling, at least as many as reach `mass`.

    A full sort of a large vocabulary is slow, and so many are rarely needed: look at 64 first, and at
    eight times as many while some row's mass is not reached.
    """
    size = probs.shape[-1]
    k = min(_TOP_P_FIRST_LOOK, size)
    top = probs.topk(k)
    while k < size and bool((top.values.sum(-1) < mass).any()):
        k = min(8 * k, size)
        top = probs.topk(k)
    return top.indices, top.values


def _nucleus(probs: Tensor, top_p: float) -> Tensor:
    """Falling `probs` with 0 behind the one whose running sum crosses top_p; 1 keeps all."""
    if top_p == 1:  # rounding may carry the running sum to 1 before the last of them
        return probs
    before = probs.cumsum(-1) - probs
    return probs.masked_fill(before >= top_p, 0.0)


def _normalised(probs: Tensor) -> Tensor:
    """Float32 softmax over 50,000 ids is off by up to 1e-5 in its sum; the sum in float64 mends it."""
    return probs / probs.sum(-1, keepdim=True, dtype=torch.float64).float()


def draw(probs: Tensor, uniform: float | Tensor) -> Tensor:
    """The id at which the cumulative law of `probs` [..., V] passes `uniform` in (0, 1): inverse CDF.

    Returns int64 [...]; for one law [V] and n uniforms, int64 [n]. An id of probability 0 is never drawn. The same uniform gives the same id, so
    a step can be replayed. The sum is kept in float64: over 50,000 ids float32 would lose the tail.
    """
    cumulative = probs.cumsum(-1, dtype=torch.float64)
    uniform = torch.as_tensor(uniform, dtype=torch.float64, device=probs.device)
    mark = (uniform * cumulative[..., -1]).unsqueeze(-1)
    return torch.searchsorted(cumulative, mark, right=True).squeeze(-1)


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

    def take(self, count: int) -> list[float]:
        return list(islice(self._stream, count))

    def one(self) -> float:
        return self.take(1)[0]


class RandomStreams:
    """Three independent streams of one run, derived from its seed: drafts, coins, resampling.

    Independent because a coin that knows the draft's draw, or a replacement that knows the coin, bends
    the law. The global random state is neither read nor written.
    """

    def __init__(self, seed: int):
        self.drafts, self.coins, self.resampling = map(Uniforms, np.random.SeedSequence(seed).spawn(3))
