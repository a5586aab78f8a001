"""The rules' accept probabilities, verdicts and replacement laws, worked out by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from specdec.decoding.probabilities import probabilities
from specdec.decoding.rules import Verdict, rule_of
from specdec.settings import EXACT_RULES, Sampling, Settings

DRAFT_BY_DRAFT = ("token", "match")
LOW, HIGH = 0.5e-9, 1 - 0.5e-9


def verify(rule: str, p: list, q: list, drafts: list[int], coins: list[float]) -> Verdict:
    """p: rows [n + 1, V]; q: rows [n, V]."""
    return rule_of(Settings(rule=rule))(
        torch.tensor(p), torch.tensor(q), torch.tensor(drafts), torch.tensor(coins, dtype=torch.float64)
    )


def law_of_one_position(rule: str, p: Tensor, q: Tensor) -> Tensor:
    """Sum over every draft of q(x) (a(x) [x] + (1 - a(x)) next(x)): what comes out in the long run."""
    law = torch.zeros_like(p, dtype=torch.float64)
    for x in q.nonzero().flatten():
        decide = lambda coin: rule_of(Settings(rule=rule))(torch.stack([p, p]), q[None], x[None], torch.tensor([coin]))
        a = float(decide(0.5).accept_probabilities)
        law[x] += float(q[x]) * a
        if a < 1:
            law += float(q[x]) * (1 - a) * decide(1.0).next_probs
    return law


def random_laws(count: int, size: int, *, zeros: float) -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(5)
    logits = 2 * torch.randn(count, 2, size, generator=generator)
    logits = logits.masked_fill(torch.rand(count, 2, size, generator=generator) < zeros, -torch.inf)
    logits[..., 0] = logits[..., 0].clamp_min(-5)
    return [(p, q) for p, q in logits.softmax(-1)]


@pytest.mark.parametrize("rule", EXACT_RULES)
@pytest.mark.parametrize("zeros", [0.0, 0.4], ids=["all-possible", "some-impossible"])
def test_the_law_of_one_position_is_the_target_for_any_draft(rule, zeros):
    for p, q in random_laws(40, 12, zeros=zeros):
        torch.testing.assert_close(law_of_one_position(rule, p, q), p.double(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("rule", EXACT_RULES)
def test_the_law_of_one_position_is_the_target_for_a_greedy_draft(rule):
    for p, q in random_laws(20, 12, zeros=0.2):
        one_hot = torch.zeros_like(q)
        one_hot[q.argmax()] = 1
        torch.testing.assert_close(law_of_one_position(rule, p, one_hot), p.double(), atol=1e-6, rtol=0)


def test_the_token_rule_accepts_with_the_smaller_of_one_and_the_ratio():
    p, q = [[0.5, 0.2, 0.3]] * 4, [[0.25, 0.4, 0.35]] * 3
    verdict = verify("token", p, q, [0, 1, 2], [LOW] * 3)
    assert verdict.accept_probabilities.tolist() == pytest.approx([1, 0.5, 0.3 / 0.35])


def test_the_match_rule_accepts_with_the_targets_own_probability():
    verdict = verify("match", [[0.5, 0.2, 0.3]] * 4, [[0.25, 0.4, 0.35]] * 3, [0, 1, 2], [LOW] * 3)
    assert verdict.accept_probabilities.tolist() == pytest.approx([0.5, 0.2, 0.3])


def test_the_token_rule_replaces_from_the_normalised_residual():
    verdict = verify("token", [[0.6, 0.3, 0.1]] * 2, [[0.1, 0.3, 0.6]], [2], [0.5])
    assert verdict.accepted == 0 and verdict.next_probs.tolist() == [1, 0, 0]
    assert float(verdict.accept_probabilities) == pytest.approx(1 / 6)


def test_the_match_rule_replaces_from_the_target_without_the_draft():
    verdict = verify("match", [[0.6, 0.3, 0.1]] * 2, [[0.1, 0.3, 0.6]], [2], [0.5])
    assert verdict.accepted == 0 and verdict.next_probs.tolist() == pytest.approx([2 / 3, 1 / 3, 0])


@pytest.mark.parametrize("rule", EXACT_RULES)
def test_a_greedy_draft_is_accepted_with_its_target_probability(rule):
    verdict = verify(rule, [[0.51, 0.49]] * 2, [[1.0, 0.0]], [0], [0.6])
    assert float(verdict.accept_probabilities) == pytest.approx(0.51)
    assert verdict.accepted == 0 and verdict.next_probs.tolist() == [0, 1]


@pytest.mark.parametrize("rule", EXACT_RULES)
@pytest.mark.parametrize("coin", [0.0, LOW, 0.5, HIGH])
def test_a_draft_that_the_target_can_never_say_is_rejected_whatever_the_coin(rule, coin):
    verdict = verify(rule, [[1.0, 0.0]] * 2, [[0.0, 1.0]], [1], [coin])
    assert verdict.accepted == 0 and verdict.next_probs.tolist() == [1, 0]
    assert float(verdict.accept_probabilities) == 0


@pytest.mark.parametrize("rule", ["token", "block"])
def test_equal_laws_are_always_accepted(rule):
    p = torch.rand(5, 1000, generator=torch.Generator().manual_seed(0))
    p = p / p.sum(-1, keepdim=True)
    drafts = torch.tensor([0, 17, 500, 999])
    coins = torch.full((4,), HIGH, dtype=torch.float64)
    verdict = rule_of(Settings(rule=rule))(p, p[:4], drafts, coins)
    assert verdict.accepted == 4 and torch.equal(verdict.next_probs, p[4])


@pytest.mark.parametrize("rule", EXACT_RULES)
def test_greedy_laws_reject_what_the_target_ranks_second(rule):
    """Raw softmax values would accept the draft: it has 0.2 in the draft and 0.3 in the target."""
    p = probabilities(torch.tensor([0.3, 0.5, 0.2, 0.0, 0.0, 0.0]).log(), Sampling(0))
    q = probabilities(torch.tensor([0.20, 0.19, 0.19, 0.19, 0.19, 0.04]).log(), Sampling(0))
    verdict = verify(rule, [p.tolist()] * 2, [q.tolist()], [0], [LOW])
    assert verdict.accepted == 0 and float(verdict.accept_probabilities) == 0
    assert verdict.next_probs.tolist() == [0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("rule", DRAFT_BY_DRAFT)
@pytest.mark.parametrize(
    ("coins", "accepted"),
    [([LOW, LOW, LOW], 3), ([HIGH, LOW, LOW], 0), ([LOW, HIGH, LOW], 1), ([LOW, LOW, HIGH], 2), ([LOW, HIGH, HIGH], 1)],
)
def test_verification_stops_at_the_first_rejection_and_replaces_there(rule, coins, accepted):
    """Each row of p is another law, so a replacement drawn from the wrong row shows."""
    p = [[0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.4, 0.1], [0.3, 0.1, 0.2, 0.4], [0.0, 0.0, 0.5, 0.5]]
    q = [[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7], [0.1, 0.7, 0.1, 0.1]]
    drafts = [0, 3, 1]
    verdict = verify(rule, p, q, drafts, coins)
    assert verdict.accepted == accepted
    if accepted == 3:
        assert verdict.next_probs.tolist() == pytest.approx(p[3])
        return
    reduced = q[accepted] if rule == "token" else [float(i == drafts[accepted]) for i in range(4)]
    left = [max(0.0, a - b) for a, b in zip(p[accepted], reduced)]
    assert verdict.next_probs.tolist() == pytest.approx([value / sum(left) for value in left])


@pytest.mark.parametrize("rule", EXACT_RULES)
def test_without_drafts_the_next_token_has_the_targets_law(rule):
    nothing = torch.empty(0, dtype=torch.int64)
    verdict = rule_of(Settings(rule=rule))(torch.tensor([[0.2, 0.8]]), torch.empty(0, 2), nothing, torch.empty(0))
    assert verdict.accepted == 0 and verdict.next_probs.tolist() == pytest.approx([0.2, 0.8])


@pytest.mark.parametrize("lacking", [1e-9, 1e-8, 1e-7, 1e-6])
def test_a_block_that_has_refused_nothing_keeps_its_draft_for_certain_however_little_is_lacking_next(lacking):
    """A small mass must not drown in rounding: an accept probability is one, neither 0.8 nor beyond 1."""
    p = [[1.0, 0.0], [lacking, 1 - lacking], [0.5, 0.5]]
    verdict = verify("block", p, [[1.0, 0.0], [0.0, 1.0]], [0, 1], [HIGH, HIGH])
    assert float(verdict.accept_probabilities[0]) == 1
    assert 0 <= float(verdict.accept_probabilities[1]) <= 1
