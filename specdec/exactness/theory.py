"""Closed forms: how many tokens a round gives, and what that is worth.

Leviathan et al. 2023, equation 1 and theorem 3.8, with the verify ratio v measured instead of 1.
All of them take acceptance at each place as independent with one rate alpha.
"""

from __future__ import annotations

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
