"""Exact laws: by enumeration through the decoder's own rules, and as formulas. Both must agree."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from specdec.decoding.lengths import Certain, Confident, Expected, Fixed, Heuristic  # noqa: E402
from specdec.decoding.rules import rule_of  # noqa: E402
from specdec.exactness.laws import (  # noqa: E402
    _paths,
    best_possible_acceptance,
    closed_form,
    distance_of_texts,
    expected_accepted,
    one_position_law,
    sequence_law,
    target_sequence_law,
    total_variation,
)
from specdec.settings import BIASED_RULES, EXACT_RULES, MISREPORTING_RULES, RULES, Settings  # noqa: E402

PAIRS = 400
TOKENS = 12
COMMON, APART = 1.55, 0.6  # of the logits of a random pair, see `random_pairs`
TOP_K = 4


def law(*masses: float) -> torch.Tensor:
    return torch.tensor(masses, dtype=torch.float64)


def random_pairs(count: int, tokens: int = TOKENS, seed: int = 0) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Pairs that agree about as much as a small model does with a large one: logits with a common normal part."""
    made = torch.Generator().manual_seed(seed)
    normal = lambda: torch.randn(count, tokens, generator=made, dtype=torch.float64)  # noqa: E731
    common = COMMON * normal()
    return list(zip((common + APART * normal()).softmax(-1), (common + APART * normal()).softmax(-1)))


def top_k(q: torch.Tensor, k: int) -> torch.Tensor:
    kept = q * (q >= q.topk(k).values[-1])
    return kept / kept.sum()


def drafted_and_told(name: str, q: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    return {"raw_draft": (top_k(q, 2), q), "argmax_draft": (one_hot(q), q)}.get(name, (q, None))


def one_hot(q: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.one_hot(q.argmax(), len(q)).double()


def random_tables(seed: int, tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    made = torch.Generator().manual_seed(seed)
    target, draft = (torch.rand(tokens, tokens, generator=made, dtype=torch.float64) ** 2 for _ in range(2))
    return target / target.sum(-1, keepdim=True), draft / draft.sum(-1, keepdim=True)


@pytest.mark.parametrize("name", RULES)
def test_formula_and_enumeration_agree(name):
    settings = Settings(rule=name)
    for p, q in random_pairs(10, tokens=6, seed=1):
        drafted, told = drafted_and_told(name, q)
        formula, formula_rate = closed_form(settings, p, drafted, told)
        counted, counted_rate = one_position_law(rule_of(settings), p, drafted, told)
        assert torch.allclose(formula, counted, atol=1e-6)
        assert formula_rate == pytest.approx(counted_rate, abs=1e-6)
        assert float(formula.sum()) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", EXACT_RULES)
def test_exact_rules_give_the_target_for_any_pair(name):
    awkward = [
        (law(0.5, 0.5, 0), law(0, 0.5, 0.5)),
        (law(1, 0, 0), law(0, 0, 1)),
        (law(0.2, 0.3, 0.5), law(0.2, 0.3, 0.5)),
        (law(0.4, 0.35, 0.25), law(1, 0, 0)),
    ]
    for p, q in random_pairs(20, tokens=6, seed=2) + awkward:
        out, _ = one_position_law(rule_of(Settings(rule=name)), p, q)
        assert total_variation(out, p) < 1e-6


@pytest.mark.parametrize("name", BIASED_RULES)
def test_biased_rules_do_not(name):
    p, q = law(0.4, 0.2, 0.4, 0), law(0.3, 0.4, 0.15, 0.15)
    drafted, told = drafted_and_told(name, q)
    out, _ = closed_form(Settings(rule=name), p, drafted, told)
    assert total_variation(out, p) > 0.05


def test_no_exact_rule_keeps_more_than_the_overlap():
    for p, q in random_pairs(50, seed=3):
        most = best_possible_acceptance(p, q)
        assert closed_form(Settings(rule="token"), p, q)[1] == pytest.approx(most)
        match = closed_form(Settings(rule="match"), p, q)[1]
        assert match == pytest.approx(float((p * q).sum()))
        assert match <= most


def test_no_coupling_agrees_more_than_the_overlap():
    """The most mass on the diagonal of a joint law with sums p and q, found by linear programming."""
    scipy = pytest.importorskip("scipy.optimize")
    for p, q in random_pairs(5, tokens=4, seed=4):
        size = len(p)
        rows = torch.eye(size).repeat_interleave(size, 1)
        columns = torch.eye(size).repeat(1, size)
        found = scipy.linprog(-torch.eye(size).flatten().numpy(), A_eq=torch.cat([rows, columns]).numpy(), b_eq=torch.cat([q, p]).numpy())
        assert -found.fun == pytest.approx(best_possible_acceptance(p, q), abs=1e-9)


def test_ensemble_law_is_the_mixture():
    for p, q in random_pairs(10, seed=5):
        settings = Settings(rule="ensemble", target_weight=0.3)
        assert torch.allclose(closed_form(settings, p, q)[0], 0.3 * p + 0.7 * q)


def test_figures_over_random_pairs():
    """Mean TV and mean P(accept) over 400 pairs of 12 tokens, within sampling error of the published ones.

    typical's parameters are those of the published figure; the raw ratio cuts the draft to its 4 likeliest.
    """
    expected = {
        "token": (0, 0.730), "match": (0, 0.255), "one_hot": (0, 0.356), "no_residual": (0.111, 0.730),
        "argmax": (0.377, 0.706), "raw_draft": (0.121, 0.719), "lenient": (0.112, 0.842), "typical": (0.255, 0.938),
    }  # fmt: skip
    typical = Settings(rule="typical", typical_epsilon=0.3, typical_delta=0.09)
    cases = {
        "token": lambda p, q: closed_form(Settings(), p, q),
        "match": lambda p, q: closed_form(Settings(rule="match"), p, q),
        "one_hot": lambda p, q: closed_form(Settings(), p, one_hot(q)),
        "no_residual": lambda p, q: closed_form(Settings(rule="no_residual"), p, q),
        "argmax": lambda p, q: closed_form(Settings(rule="argmax_draft"), p, one_hot(q), q),
        "raw_draft": lambda p, q: closed_form(Settings(rule="raw_draft"), p, top_k(q, TOP_K), q),
        "lenient": lambda p, q: closed_form(Settings(rule="lenient", lenience=0.7), p, q),
        "typical": lambda p, q: closed_form(typical, p, q),
    }
    pairs = random_pairs(PAIRS)
    for name, case in cases.items():
        laws = [case(p, q) for p, q in pairs]
        distance = sum(total_variation(out, p) for (out, _), (p, _) in zip(laws, pairs)) / PAIRS
        rate = sum(rate for _, rate in laws) / PAIRS
        assert distance == pytest.approx(expected[name][0], abs=0.02), name
        assert rate == pytest.approx(expected[name][1], abs=0.025), name


@pytest.mark.parametrize("name", EXACT_RULES)
@pytest.mark.parametrize("tokens, gamma, length", [(2, 1, 4), (2, 3, 4), (3, 2, 3), (3, 3, 2)])
def test_texts_of_exact_rules_follow_the_target(name, tokens, gamma, length):
    target, draft = random_tables(7, tokens)
    out = sequence_law(rule_of(Settings(rule=name)), target, draft, Fixed(gamma), length)
    assert distance_of_texts(out, target_sequence_law(target, length)) < 1e-6


@pytest.mark.parametrize("name", [rule for rule in BIASED_RULES if rule not in MISREPORTING_RULES])
def test_texts_of_biased_rules_do_not(name):
    target, draft = random_tables(8, 3)
    out = sequence_law(rule_of(Settings(rule=name)), target, draft, Fixed(2), 3)
    assert sum(out.values()) == pytest.approx(1)
    assert distance_of_texts(out, target_sequence_law(target, 3)) > 0.02


def test_block_never_keeps_fewer_than_token():
    for seed in range(12):
        target, draft = random_tables(seed, 3)
        token, block = (expected_accepted(rule_of(Settings(rule=name)), target, draft, 3) for name in ("token", "block"))
        assert block >= token - 1e-9


def test_block_equals_token_for_one_draft():
    target, draft = random_tables(20, 4)
    token, block = (expected_accepted(rule_of(Settings(rule=name)), target, draft, 1) for name in ("token", "block"))
    assert block == pytest.approx(token)


def test_total_variation_of_the_extremes():
    assert total_variation(law(1, 0), law(0, 1)) == 1
    assert total_variation(law(0.5, 0.5), law(0.5, 0.5)) == 0


def test_typical_threshold_in_the_formula():
    entropy = -sum(m * math.log(m) for m in (0.9, 0.05, 0.03, 0.02))
    assert entropy == pytest.approx(0.428, abs=5e-4)
    assert min(0.09, 0.3 * math.exp(-entropy)) == 0.09


def test_a_greedy_draft_that_reports_its_softmax_by_hand():
    """Only b is ever drafted, kept with .25 / .40; the residual of the told law fills a and c: d and e are lost."""
    p, q = law(0.30, 0.25, 0.20, 0.15, 0.10), law(0.10, 0.40, 0.10, 0.25, 0.15)
    out, acceptance = closed_form(Settings(rule="argmax_draft"), p, one_hot(q), q)
    torch.testing.assert_close(out, law(0.25, 0.625, 0.125, 0, 0))
    assert acceptance == pytest.approx(0.625) and total_variation(out, p) == pytest.approx(0.375)


POLICIES_AT_WORK = [
    Fixed(2),
    Heuristic(3, length=2),
    Confident(3, threshold=0.4),
    Certain(3, threshold=0.9),
    Expected((0.6, 0.6), draft_cost=0.3, token_cost=0.1),
]


@pytest.mark.parametrize("policy", POLICIES_AT_WORK, ids=lambda policy: type(policy).__name__)
@pytest.mark.parametrize("name", EXACT_RULES)
def test_no_policy_changes_the_law_of_texts_under_an_exact_rule(name, policy):
    target, draft = random_tables(8, 3)
    out = sequence_law(rule_of(Settings(rule=name)), target, draft, policy, 4)
    assert distance_of_texts(out, target_sequence_law(target, 4)) < 1e-6


@pytest.mark.parametrize("policy", POLICIES_AT_WORK, ids=lambda policy: type(policy).__name__)
def test_a_policy_that_peeks_changes_it(policy):
    """The control: a draft length that looks at the coin is noticed, whatever it is combined with."""
    target, draft = random_tables(8, 3)
    peeked = sequence_law(rule_of(Settings(rule="peeking")), target, draft, policy, 4)
    assert distance_of_texts(peeked, target_sequence_law(target, 4)) > 0.02
    assert sum(peeked.values()) == pytest.approx(1)


def test_peeking_is_no_residual_in_disguise():
    target, draft = random_tables(5, 3)
    laws = [sequence_law(rule_of(Settings(rule=rule)), target, draft, Fixed(2), 3) for rule in ("peeking", "no_residual")]
    assert distance_of_texts(*laws) < 1e-9


def test_the_policies_at_work_draft_rounds_of_different_lengths():
    """Else the tests above would show nothing about them."""
    _, draft = random_tables(8, 3)
    for policy in POLICIES_AT_WORK[2:4]:
        lengths = {len(drafts) for last in range(3) for _, drafts, *_ in _paths(draft, draft, policy, last)}
        assert len(lengths) > 1
