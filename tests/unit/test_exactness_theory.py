"""The closed forms of the speedup, held against the published numbers."""

from __future__ import annotations

import pytest

from specdec.exactness.theory import best_gamma, expected_tokens, predicted_speedup

# cost ratio c -> acceptance rate alpha -> best draft length and its speedup, target pass of constant cost.
BEST = {
    0.05: {0.5: (3, 1.63), 0.6: (4, 1.92), 0.7: (6, 2.35), 0.8: (8, 3.09), 0.9: (13, 4.67)},
    0.1: {0.5: (2, 1.46), 0.6: (3, 1.67), 0.7: (4, 1.98), 0.8: (6, 2.47), 0.9: (10, 3.43)},
    0.2: {0.5: (1, 1.25), 0.6: (2, 1.40), 0.7: (3, 1.58), 0.8: (4, 1.87), 0.9: (7, 2.37)},
    0.5: {0.5: (0, 1.00), 0.6: (1, 1.07), 0.7: (1, 1.13), 0.8: (2, 1.22), 0.9: (3, 1.38)},
}


@pytest.mark.parametrize("cost", BEST)
def test_best_draft_length(cost):
    for alpha, (gamma, speedup) in BEST[cost].items():
        found, gain = best_gamma(alpha, cost)
        assert found == gamma
        assert gain == pytest.approx(speedup, abs=0.005)


@pytest.mark.parametrize("alpha", [0, 0.3, 0.8, 0.999])
@pytest.mark.parametrize("gamma", [0, 1, 4, 16])
def test_expected_tokens(alpha, gamma):
    assert expected_tokens(alpha, gamma) == pytest.approx((1 - alpha ** (gamma + 1)) / (1 - alpha))


def test_expected_tokens_at_certain_acceptance():
    assert expected_tokens(1.0, 4) == 5


@pytest.mark.parametrize("alpha, cost", [(0.3, 0.31), (0.5, 0.51), (0.8, 0.9)])
def test_no_gain_unless_acceptance_beats_the_cost(alpha, cost):
    assert best_gamma(alpha, cost) == (0, 1.0)
    assert best_gamma(cost, alpha)[1] > 1


def test_a_dearer_verification_costs_speed():
    assert predicted_speedup(3, 4, 0.1, 1.5) == pytest.approx(3 / 1.9)
    assert best_gamma(0.7, 0.1, 1.5)[1] < best_gamma(0.7, 0.1)[1]
