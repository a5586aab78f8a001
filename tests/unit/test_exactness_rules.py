"""The rules on small tables whose right answers were worked out by hand: accept rates, laws, residuals."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from specdec.decoding.probabilities import probabilities, residual  # noqa: E402
from specdec.decoding.rules import rule_of  # noqa: E402
from specdec.exactness.laws import expected_accepted, one_position_law  # noqa: E402
from specdec.settings import BadInput, Sampling, Settings  # noqa: E402

THIRDS = torch.tensor([1 / 3, 2 / 3], dtype=torch.float64), torch.tensor([2 / 3, 1 / 3], dtype=torch.float64)


def law(*masses: float) -> torch.Tensor:
    return torch.tensor(masses, dtype=torch.float64)


def expect(settings: Settings, p, q, out, rate: float, reported=None) -> None:
    found, accepted = one_position_law(rule_of(settings), p, q, reported)
    assert found.tolist() == pytest.approx(list(out), abs=5e-4)
    assert accepted == pytest.approx(rate, abs=5e-4)


# --- the sampling law ---


def test_sampled_draft():
    expect(Settings(), law(0.5, 0.3, 0.2), law(0.6, 0.3, 0.1), [0.5, 0.3, 0.2], 0.9)


def test_greedy_draft_has_a_one_hot_law():
    expect(Settings(), law(0.5, 0.3, 0.2), law(1, 0, 0), [0.5, 0.3, 0.2], 0.5)


def test_greedy_draft_with_its_softmax_in_the_ratio_is_wrong():
    expect(Settings(rule="raw_draft"), law(0.5, 0.3, 0.2), law(1, 0, 0), [0.8333, 0, 0.1667], 0.8333, law(0.6, 0.3, 0.1))


def test_residual_is_divided_not_softened():
    p, q = law(0.6, 0.3, 0.1), law(0.1, 0.3, 0.6)
    assert residual(p, q).tolist() == pytest.approx([1, 0, 0])
    expect(Settings(), p, q, [0.6, 0.3, 0.1], 0.5)


def test_draft_law_before_top_k_is_wrong():
    p, q = law(0.5714, 0.4286, 0, 0), law(0, 0.5714, 0.4286, 0)
    expect(Settings(), p, q, [0.5714, 0.4286, 0, 0], 0.4286)
    expect(Settings(rule="raw_draft"), p, q, [0.404, 0.596, 0, 0], 0.571, law(0.1, 0.4, 0.3, 0.2))


def test_temperature_applies_to_both():
    p, q = (probabilities(torch.tensor(x).log(), Sampling(0.5)).double() for x in ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]))
    expect(Settings(), p, q, [0.6579, 0.2368, 0.1053], 0.447)


def test_same_table_with_a_greedy_draft_is_not_always_kept():
    p = law(0.51, 0.49)
    expect(Settings(), p, law(1, 0), [0.51, 0.49], 0.51)
    expect(Settings(), p, p, [0.51, 0.49], 1.0)


def test_impossible_draft_is_rejected_even_at_coin_zero():
    p, q = law(1, 0).expand(2, -1), law(0, 1).unsqueeze(0)
    for name in ("token", "match", "block"):
        verdict = rule_of(Settings(rule=name))(p, q, torch.tensor([1]), torch.zeros(1, dtype=torch.float64))
        assert int(verdict.accepted) == 0
        assert verdict.next_probs.tolist() == [1, 0]


@pytest.mark.parametrize("gap", [0, 1e-9])
def test_no_nan_where_the_models_agree(gap):
    p = law(0.7, 0.2, 0.1)
    q = p + law(gap, -gap, 0)
    assert residual(p, q).isfinite().all()
    expect(Settings(), p, q, p.tolist(), 1.0)


def test_greedy_takes_the_targets_first_whatever_the_draft():
    q, p = (probabilities(torch.tensor(x).log(), Sampling(0)) for x in ([0.2, 0.19, 0.19], [0.3, 0.5, 0.2]))
    for name in ("token", "match", "block"):
        expect(Settings(rule=name), p, q, [0, 1, 0], 0.0)


# --- the other rules ---


def test_match_keeps_the_sum_of_products():
    p = law(0.4, 0.3, 0.2, 0.1)
    expect(Settings(rule="match"), p, p, p.tolist(), 0.30)
    expect(Settings(rule="match"), p, law(1, 0, 0, 0), p.tolist(), 0.40)
    expect(Settings(rule="token"), p, p, p.tolist(), 1.0)


def test_block_keeps_eleven_ninths():
    p, q = (x.expand(2, -1) for x in THIRDS)
    assert expected_accepted(rule_of(Settings(rule="token")), p, q, 2) == pytest.approx(10 / 9)
    assert expected_accepted(rule_of(Settings(rule="block")), p, q, 2) == pytest.approx(11 / 9)
    for name in ("token", "block"):
        assert expected_accepted(rule_of(Settings(rule=name)), p, q, 1) == pytest.approx(2 / 3)


@pytest.mark.parametrize("drafts, coins, token, block", [((0, 1), 0.75, 0, 2), ((0, 0), 0.24, 2, 2), ((0, 0), 0.26, 2, 0)])
def test_block_takes_the_last_passing_place(drafts, coins, token, block):
    p, q = THIRDS[0].expand(3, -1), THIRDS[1].expand(2, -1)
    for name, kept in (("token", token), ("block", block)):
        thrown = torch.full((2,), coins, dtype=torch.float64)
        assert int(rule_of(Settings(rule=name))(p, q, torch.tensor(drafts), thrown).accepted) == kept


@pytest.mark.parametrize(
    "masses, rate",
    [((0.9, 0.05, 0.03, 0.02), 0.9), ((0.5, 0.25, 0.125, 0.125), 1.0), ((0.125,) * 8, 1.0)],
)
def test_typical_acceptance_can_keep_fewer(masses, rate):
    settings = Settings(rule="typical", typical_epsilon=0.09, typical_delta=0.3)
    p = law(*masses)
    assert one_position_law(rule_of(settings), p, p)[1] == pytest.approx(rate)
    assert one_position_law(rule_of(Settings()), p, p)[1] == pytest.approx(1.0)


def test_typical_keeps_only_the_maximum_when_greedy():
    p = law(0, 1, 0)
    assert one_position_law(rule_of(Settings(rule="typical")), p, law(0.5, 0.5, 0))[1] == pytest.approx(0.5)


def test_unknown_and_impossible_rules_are_named():
    with pytest.raises(BadInput, match="rule must be one of .*token.*, not 'tokne'"):
        Settings.checked(rule="tokne")
    with pytest.raises(BadInput, match="raw_draft needs the drafter model"):
        Settings.checked(rule="raw_draft", drafter="prompt_lookup")
