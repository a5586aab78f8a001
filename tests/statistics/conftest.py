"""Counting tokens over many seeds, and how unlikely the counts are under a law.

Every assertion on a law has the same false-alarm rate, `FALSE_ALARM`; the seeds are fixed, so a test
that passes once passes always, and the controls show that a wrong engine would not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from specdec.models.pairs import Pair
from specdec.recording import run
from specdec.settings import Settings

FALSE_ALARM = 1e-6


def p_value(counts: Sequence[int], law: Sequence[float]) -> float:
    """Chi-square probability of counts at least this far from `law`; 0 if something impossible came out."""
    counts, law = np.ravel(counts), np.ravel(law)
    expected = law / law.sum() * counts.sum()
    if counts[expected == 0].any():
        return 0.0
    possible = expected > 0
    return 1.0 if possible.sum() < 2 else float(chisquare(counts[possible], expected[possible]).pvalue)


def share_p_value(successes: int, trials: int, probability: float) -> float:
    """Two-sided binomial probability of so many successes or fewer/more."""
    law = binom(trials, probability)
    return min(1.0, 2 * min(law.cdf(successes), law.sf(successes - 1)))


@dataclass(frozen=True)
class FirstTokens:
    """Over many runs: how often each id came first, how often the first draft was accepted."""

    counts: np.ndarray
    accepted: int
    runs: int


def first_tokens(pair: Pair, settings: Settings, runs: int) -> FirstTokens:
    counts, accepted = np.zeros(pair.target.vocab_size, dtype=int), 0
    for seed in range(runs):
        round_ = next(run(pair, [0], replace(settings, seed=seed, max_new_tokens=settings.gamma + 1)))
        counts[round_.emitted[0]] += 1
        accepted += round_.accepted > 0
    return FirstTokens(counts, accepted, runs)


@pytest.fixture(scope="session")
def laws() -> SimpleNamespace:
    """The helpers of this module, for the tests beside it."""
    return SimpleNamespace(
        FALSE_ALARM=FALSE_ALARM, p_value=p_value, share_p_value=share_p_value, first_tokens=first_tokens
    )


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, object], None]:
    """plant("decoding.loop.rule_of", wrong): put a fault into the engine for one test."""
    return lambda where, wrong: monkeypatch.setattr(f"specdec.{where}", wrong)
