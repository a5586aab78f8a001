"""Counting the first tokens of many rounds, and how unlikely the counts are under a law.

Every assertion on a law has the same false-alarm rate, `FALSE_ALARM`; the seeds are fixed, so a test
that passes once passes always, and the controls show that a wrong engine would not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import binom, chisquare

from specdec.decoding.loop import Round
from specdec.models.pairs import Pair
from specdec.recording import run
from specdec.settings import Settings

FALSE_ALARM = 1e-6
ROUNDS_A_RUN = 50


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
    """Over many rounds: how often each id came first, how often anything was drafted and the first draft accepted."""

    counts: np.ndarray
    drafted: int
    accepted: int
    rounds: int


def first_tokens(pair: Pair, settings: Settings, rounds: int, prompt: Sequence[int] = (0,)) -> FirstTokens:
    """Of `rounds` rounds, all that a run has before another seed is taken.

    The target is a table with one law at every place, so whatever was written before, the first token of every
    round is an independent draw of it: beginning a run, which costs more than a round, shows no more.
    """
    counts, drafted, accepted = np.zeros(pair.target.vocab_size, dtype=int), 0, 0
    for round_ in islice(_rounds(pair, settings, prompt), rounds):
        counts[round_.emitted[0]] += 1
        drafted += len(round_.proposal) > 0
        accepted += round_.accepted > 0
    return FirstTokens(counts, drafted, accepted, rounds)


def _rounds(pair: Pair, settings: Settings, prompt: Sequence[int]) -> Iterator[Round]:
    """Rounds without end, none of them cut by a budget; the seeds are 0, 1, 2, ..."""
    budget = ROUNDS_A_RUN * (settings.gamma + 1) + settings.gamma
    for seed in count():
        yield from islice(run(pair, list(prompt), replace(settings, seed=seed, max_new_tokens=budget)), ROUNDS_A_RUN)


@pytest.fixture(autouse=True)
def without_gradients() -> Iterator[None]:
    """Tables have nothing to learn, and torch is a fifth faster where it needn't think of it."""
    with torch.inference_mode():
        yield


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
