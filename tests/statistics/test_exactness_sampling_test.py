"""The sampling test itself: it passes a correct engine at its stated rate, and every planted fault fails it."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from specdec.decoding.probabilities import draw, residual  # noqa: E402
from specdec.decoding.rules import DraftByDraft, ratio, rule_of  # noqa: E402
from specdec.exactness import sampling_test as module  # noqa: E402
from specdec.exactness.laws import closed_form, one_position_law  # noqa: E402
from specdec.exactness.loop_test import loop_test  # noqa: E402
from specdec.exactness.sampling_test import chi_square, expected_distance, judged, sampling_test  # noqa: E402
from specdec.settings import BIASED_RULES, EXACT_RULES, MISREPORTING_RULES, RULES, Sampling, Settings  # noqa: E402

SEEDS = 50
DRAWS = 20_000
P = torch.tensor([0.4, 0.2, 0.4, 0.0], dtype=torch.float64)
Q = torch.tensor([0.3, 0.4, 0.15, 0.15], dtype=torch.float64)


def sampled(p, q, n=DRAWS, **settings):
    return sampling_test(torch.as_tensor(p).double(), torch.as_tensor(q).double(), Settings(**settings), n)


def failing(test) -> bool:
    return not test.chi_square.passed


@pytest.mark.parametrize("rule", EXACT_RULES)
def test_fifty_seeds_of_the_correct_engine_pass(rule):
    tests = [sampled(P, Q, rule=rule, seed=seed) for seed in range(SEEDS)]
    assert not any(map(failing, tests))
    values = sorted(test.chi_square.p_value for test in tests)
    assert values[0] < 0.2 and values[-1] > 0.8  # p-values are spread over (0, 1), as an honest test's are
    assert abs(sum(values) / SEEDS - 0.5) < 0.2


@pytest.mark.parametrize("rule", [rule for rule in BIASED_RULES if rule not in MISREPORTING_RULES])
def test_biased_rules_fail(rule):
    test = sampled(P, Q, rule=rule)
    assert failing(test)
    law, acceptance = closed_form(Settings(rule=rule), P, Q)
    assert chi_square(test.counts, law).passed  # it is this rule's own law that was drawn, not another
    assert test.acceptance == pytest.approx(acceptance, abs=0.015)


FAULTS = {
    "residual from p": DraftByDraft(ratio, lambda p, q, rejected: p),
    "softmaxed residual": DraftByDraft(ratio, lambda p, q, rejected: (p - q).clamp_min(0).softmax(-1)),
    "accept all": DraftByDraft(lambda p, q, ids: torch.ones(len(ids)), lambda p, q, rejected: residual(p, q)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_rule_fails(monkeypatch, fault):
    monkeypatch.setattr(module, "rule_of", lambda settings: FAULTS[fault])
    assert all(failing(sampled(P, Q, seed=seed)) for seed in range(5))


def test_draft_law_before_top_k_fails():
    q = torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64)
    cut = torch.tensor([0, 4 / 7, 3 / 7, 0], dtype=torch.float64)
    p = torch.tensor([0.5714, 0.4286, 0, 0], dtype=torch.float64)
    assert failing(sampling_test(p, cut, Settings(rule="raw_draft"), DRAWS, reported=q))
    assert not failing(sampling_test(p, cut, Settings(rule="token"), DRAWS))


def test_the_likeliest_draft_told_as_drawn_fails():
    certain = torch.eye(4, dtype=torch.float64)[Q.argmax()]
    assert failing(sampling_test(P, certain, Settings(rule="argmax_draft"), DRAWS, reported=Q))
    assert not failing(sampling_test(P, certain, Settings(rule="token"), DRAWS))


def test_a_shared_coin_fails(monkeypatch):
    """The uniforms that drew the drafts serve as coins and draw the replacements too."""

    class Shared(module.RandomStreams):
        def __init__(self, seed):
            super().__init__(seed)
            first = self.drafts.take(DRAWS)
            self.drafts = self.coins = self.resampling = type("Same", (), {"take": staticmethod(lambda n: first[:n])})

    monkeypatch.setattr(module, "RandomStreams", Shared)
    assert failing(sampled([0.10, 0.60, 0.30], [0.35, 0.30, 0.35]))


def first_failure_block(target_probs, draft_probs, draft_ids, coins):
    """Block verification that stops at the first place that fails, a fault that was met in the wild."""
    verdict = rule_of(Settings(rule="block"))(target_probs, draft_probs, draft_ids, coins)
    drafted = len(draft_ids)
    kept = int((coins < verdict.accept_probabilities).long().cumprod(-1).sum())
    if kept == int(verdict.accepted):
        return verdict
    joint = 1.0
    for place in range(kept):
        x = int(draft_ids[place])
        joint = min(1.0, joint * float(target_probs[place, x] / draft_probs[place, x]))
    left = (joint * target_probs[kept] - draft_probs[kept]).clamp_min(0) if kept < drafted else target_probs[-1]
    law = left / left.sum() if left.sum() > 0 else target_probs[kept]
    return type(verdict)(torch.tensor(kept), verdict.accept_probabilities, law, True)


def test_block_that_stops_at_the_first_failure_fails(monkeypatch):
    from specdec.decoding import loop

    p, q = torch.tensor([1 / 3, 2 / 3]), torch.tensor([2 / 3, 1 / 3])
    settings = Settings(rule="block", gamma=2)
    assert not failing(loop_test(p, q, settings, 2_000))
    monkeypatch.setattr(loop, "rule_of", lambda settings: first_failure_block)
    assert failing(loop_test(p, q, settings, 2_000))


@pytest.mark.parametrize("rule", EXACT_RULES)
def test_the_whole_loop_passes(rule):
    test = loop_test(P, Q, Settings(rule=rule, gamma=2), 2_000)
    assert not failing(test)
    expected = one_position_law(rule_of(Settings(rule="match" if rule == "match" else "token")), P, Q)[1]
    if rule != "block":  # a block of two is judged as a whole
        assert test.acceptance == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("rule", ["no_residual", "typical", "raw_draft"])
def test_the_whole_loop_fails_with_a_biased_rule(rule):
    drafted = Sampling(top_k=2) if rule == "raw_draft" else Sampling()
    assert failing(loop_test(P, Q, Settings(rule=rule, gamma=2), 2_000, drafted=drafted))


def test_an_impossible_token_fails_at_once():
    counts = torch.tensor([50, 50, 1])
    result = chi_square(counts, torch.tensor([0.5, 0.5, 0.0]))
    assert result.impossible == 1 and not result.passed


def test_rare_cells_are_pooled():
    result = chi_square(torch.tensor([500, 490, 4, 3, 3]), torch.tensor([0.5, 0.49, 0.004, 0.003, 0.003]))
    assert result.degrees_of_freedom == 2
    assert result.n == 1000
    assert result.passed


def test_a_larger_sample_sees_a_smaller_bias():
    few, many = (sampled(P, Q, n=n).chi_square for n in (1_000, 100_000))
    assert few.detectable / many.detectable == pytest.approx(10, rel=1e-3)


def test_the_smallest_detectable_bias_is_detected_nine_times_of_ten():
    n = 5_000
    law = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    w = chi_square(torch.tensor([2500, 1500, 1000]), law).detectable
    direction = torch.tensor([1.0, -1.0, 0.0], dtype=torch.float64)
    shift = w / math.sqrt(float((direction**2 / law).sum()))
    bent = law + shift * direction
    found = 0
    for seed in range(200):
        counts = torch.multinomial(bent, n, replacement=True, generator=torch.Generator().manual_seed(seed)).bincount(minlength=3)
        found += not chi_square(counts, law).passed
    assert 0.82 < found / 200 < 0.97


def test_distance_falls_like_one_over_root_n():
    test = sampled(P, Q, n=100_000)
    assert test.checkpoints[-1] == 100_000
    assert test.distances[-1] < 4 * test.expected_distances[-1]
    assert expected_distance(P, 40_000) / expected_distance(P, 10_000) == pytest.approx(0.5, rel=0.02)


def test_a_hundred_thousand_draws_of_a_large_vocabulary_are_quick():
    import time

    made = torch.Generator().manual_seed(0)
    common = 3 * torch.randn(49_152, generator=made)
    p, q = ((common + torch.randn(49_152, generator=made)).softmax(-1) for _ in range(2))
    for rule in RULES:
        began = time.process_time()
        test = sampling_test(p, q, Settings(rule=rule), 100_000)
        assert time.process_time() - began < 3.0, rule
        assert failing(test) == (rule in BIASED_RULES and rule not in MISREPORTING_RULES), rule


def test_match_draws_its_replacement_without_the_rejected_token():
    """All draws at once agree with the rule's own law for each rejected token."""
    law, rule = torch.tensor([0.1, 0.0, 0.5, 0.4], dtype=torch.float64), module.one_position_rule(Settings(rule="match"))
    uniforms = (torch.arange(1000, dtype=torch.float64) + 0.5) / 1000
    for rejected in (0, 1, 2, 3):
        ids = module._replacements(rule, law, law, torch.full((1000,), rejected), uniforms)
        expected = draw(rule.replacement(law, law, torch.tensor(rejected)), uniforms)
        assert torch.equal(ids, expected)


@pytest.mark.parametrize("expected", [0.02, 0.2, 2.0])
def test_a_token_that_is_hardly_ever_drawn_raises_no_false_alarm(expected):
    n = 100_000
    law = torch.tensor([0.5, 0.3, 0.2 - expected / n, expected / n], dtype=torch.float64)
    seen = torch.tensor([50_000, 30_000, 19_999, 1])
    assert chi_square(seen, law).passed
    assert chi_square(seen, law).degrees_of_freedom == 2


def test_a_law_of_one_common_token_is_neither_blind_nor_jumpy():
    law = torch.tensor([1 - 2e-7, 1e-7, 1e-7], dtype=torch.float64)
    assert chi_square(torch.tensor([99_999, 1, 0]), law).p_value == pytest.approx(0.0198, abs=1e-4)
    assert not chi_square(torch.tensor([99_990, 10, 0]), law).passed


def test_judged_needs_nothing_but_ids():
    test = judged("token", P, torch.tensor([0] * 40 + [1] * 20 + [2] * 40), torch.ones(100, dtype=torch.bool))
    assert test.acceptance == 1
    assert not failing(test)
