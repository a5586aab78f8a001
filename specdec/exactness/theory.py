"""Closed forms: how many tokens a round gives, and what that is worth.

Leviathan et al. 2023, equation 1 and theorem 3.8, with the verify ratio v measured instead of 1.
All of them take acceptance at each place as independent with one rate alpha.
"""

from __future__ import annotations

from collections.abc import Callable

MAX_GAMMA = 32


def expected_tokens(alpha: float, gamma: int) -> float:
    """E[tokens per round] = 1 + alpha + ... + alpha^gamma, for alpha in [0, 1]."""
    return sum(alpha**place for place in range(gamma + 1))


def predicted_speedup(tokens_per_round: float, gamma: float, cost_ratio: float, verify_ratio: float = 1.0) -> float:
    """E[tokens per round] / (gamma c + v).

    The seed formula's own terms: T_sd = n t_small + t_big' for m + 1 tokens, against T_ori = (m + 1) t_big;
    c = t_small / t_big and v = t_big' / t_big.
    """
    return tokens_per_round / (gamma * cost_ratio + verify_ratio)


def best_gamma(alpha: float, cost_ratio: float, verify_ratio: float = 1.0) -> tuple[int, float]:
    """The draft length with the largest predicted speedup, and that speedup; (0, 1.0) when none helps."""
    speedups = {0: 1.0} | {
        gamma: predicted_speedup(expected_tokens(alpha, gamma), gamma, cost_ratio, verify_ratio)
        for gamma in range(1, MAX_GAMMA + 1)
    }
    gamma = max(speedups, key=lambda length: (speedups[length], -length))
    return gamma, speedups[gamma]


def shared_speedup(
    alpha: float, gamma: int, batch: int, draft_seconds: float, target_seconds: Callable[[float], float]
) -> float:
    """Speedup where `batch` texts are decoded together: E[tokens per round] t(B) / (gamma t_draft + t(B (gamma + 1))).

    target_seconds(n): a target pass over n tokens, of whichever texts. Plain decoding gives each text a token for
    t(B); a round verifies B (gamma + 1) tokens in one pass. draft_seconds: a draft step of all texts, taken as that
    of one: a draft is bound by memory longer than its target. Texts are taken to stay in step.
    """
    together = gamma * draft_seconds + target_seconds(batch * (gamma + 1))
    return expected_tokens(alpha, gamma) * target_seconds(batch) / together


def best_shared(
    alpha: float, batch: int, draft_seconds: float, target_seconds: Callable[[float], float], most_tokens: int
) -> tuple[int, float]:
    """The draft length with the largest `shared_speedup` among those whose pass holds at most `most_tokens`; (0, 1.0)
    where none helps."""
    longest = min(MAX_GAMMA, most_tokens // batch - 1)
    speedups = {0: 1.0} | {
        gamma: shared_speedup(alpha, gamma, batch, draft_seconds, target_seconds) for gamma in range(1, longest + 1)
    }
    gamma = max(speedups, key=lambda length: (speedups[length], -length))
    return gamma, speedups[gamma]
