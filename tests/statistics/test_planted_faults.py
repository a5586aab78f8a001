"""The law tests can fail: each fault that was met in the wild is planted, and the counts betray it.

Each control also checks that the counts follow the law that the fault must have, so that it is the
planted fault that is found, and not another.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from specdec.decoding.drafting import ModelDrafter
from specdec.decoding.probabilities import Uniforms
from specdec.decoding.rules import DraftByDraft, ratio
from specdec.settings import Sampling, Settings

ROUNDS = 5_000


def residual(p, q, rejected):
    left = (p - q).clamp_min(0)
    return left / left.sum() if left.sum() > 0 else p


RULES = {
    "the replacement is drawn from p": (DraftByDraft(ratio, lambda p, q, rejected: p), [0.4, 0.45, 0.15]),
    "the residual is softened instead of divided": (
        DraftByDraft(ratio, lambda p, q, rejected: (p - q).clamp_min(0).softmax(-1)),
        [0.3259, 0.4371, 0.2371],
    ),
    "every draft is accepted": (DraftByDraft(lambda p, q, ids: torch.ones(len(ids)), residual), [0.1, 0.3, 0.6]),
    "verified places take the target's maximum": (
        DraftByDraft(lambda p, q, ids: (ids == p.argmax(-1)).float(), lambda p, q, rejected: torch.eye(3)[p.argmax()]),
        [1, 0, 0],
    ),
}


def expect_caught(laws, pair, settings: Settings, right: list[float], faulty: list[float]) -> None:
    counts = laws.first_tokens(pair, settings, ROUNDS).counts
    assert laws.p_value(counts, right) < laws.FALSE_ALARM, counts
    assert laws.p_value(counts, faulty) > laws.FALSE_ALARM, counts


@pytest.mark.parametrize("fault", RULES)
def test_a_wrong_rule_is_caught(laws, plant, table_pair, fault):
    wrong, law = RULES[fault]
    plant("decoding.loop.rule_of", lambda settings: wrong)
    expect_caught(laws, table_pair([0.6, 0.3, 0.1], [0.1, 0.3, 0.6]), Settings(gamma=1), [0.6, 0.3, 0.1], law)


def test_the_same_counts_without_a_fault_pass(laws, table_pair):
    counts = laws.first_tokens(table_pair([0.6, 0.3, 0.1], [0.1, 0.3, 0.6]), Settings(gamma=1), ROUNDS).counts
    assert laws.p_value(counts, [0.6, 0.3, 0.1]) > laws.FALSE_ALARM


@pytest.mark.parametrize(
    ("target", "draft", "drawn", "reported", "top_k", "right", "faulty"),
    [
        ([0.4, 0.3, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2], Sampling(1, 2), Sampling(1), 2, [4, 3, 0, 0], [0.4041, 0.5959, 0, 0]),
        ([0.5, 0.3, 0.2], [0.6, 0.3, 0.1], Sampling(0), Sampling(1), 0, [5, 3, 2], [5, 0, 1]),
    ],
    ids=["q before top-k", "softmax q of a greedy draft"],
)
def test_a_draft_law_that_was_not_sampled_is_caught(laws, plant, table_pair, target, draft, drawn, reported, top_k, right, faulty):
    plant("recording.drafter_of", lambda pair, settings: ModelDrafter(pair.draft, drawn, reported))
    expect_caught(laws, table_pair(target, draft), Settings(gamma=1, top_k=top_k), right, faulty)


@pytest.mark.parametrize(
    ("reader", "target", "draft", "faulty"),
    [
        ("coins", [0.1, 0.6, 0.3], [0.35, 0.3, 0.35], [0.2857, 0.5072, 0.2071]),
        ("resampling", [0.3, 0.4, 0.3], [0.2, 0.2, 0.6], [0.2, 0.5, 0.3]),
    ],
    ids=["as coin", "for the replacement"],
)
def test_a_drafts_uniform_used_again_is_caught(laws, plant, table_pair, reader, target, draft, faulty):
    def streams(seed: int) -> SimpleNamespace:
        children = dict(zip(("drafts", "coins", "resampling"), np.random.SeedSequence(seed).spawn(3)))
        children[reader] = children["drafts"]
        return SimpleNamespace(**{name: Uniforms(child) for name, child in children.items()})

    plant("decoding.loop.RandomStreams", streams)
    expect_caught(laws, table_pair(target, draft), Settings(gamma=1), target, faulty)
