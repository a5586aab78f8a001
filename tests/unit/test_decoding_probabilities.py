"""Logits to probabilities with exactly the meaning of `transformers`, at every size and strictness."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from specdec.decoding.probabilities import draw, lawless, probabilities
from specdec.settings import Sampling


def logits_of(*probs: float) -> Tensor:
    return torch.tensor(probs).log()


def random_logits(rows: int, size: int, *, scale: float = 3.0, impossible: float = 0.0, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(rows, size, generator=generator) * scale
    return logits.masked_fill(torch.rand(rows, size, generator=generator) < impossible, -torch.inf)


def by_transformers(logits: Tensor, sampling: Sampling) -> Tensor:
    scores = TemperatureLogitsWarper(float(sampling.temperature))(None, logits)
    if sampling.top_k:
        scores = TopKLogitsWarper(sampling.top_k)(None, scores)
    if sampling.top_p < 1:
        scores = TopPLogitsWarper(sampling.top_p)(None, scores)
    return scores.softmax(-1)


@pytest.mark.parametrize("impossible", [0.0, 0.5], ids=["all-finite", "half-at-minus-infinity"])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 1.7])
@pytest.mark.parametrize("top_k", [0, 1, 2, 7, 50, 1000])
@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9, 0.99, 1.0])
def test_a_small_vocabulary_is_filtered_as_transformers_does(temperature, top_k, top_p, impossible):
    sampling = Sampling(temperature, top_k, top_p)
    logits = random_logits(20, 100, impossible=impossible)
    ours, theirs = probabilities(logits, sampling), by_transformers(logits, sampling)
    assert torch.equal(ours > 0, theirs > 0)
    torch.testing.assert_close(ours, theirs, atol=2e-6, rtol=1e-4)


@pytest.mark.parametrize("scale", [0.3, 3.0], ids=["flat", "peaked"])
@pytest.mark.parametrize(
    "sampling",
    [Sampling(), Sampling(0.7, 50), Sampling(1.0, 0, 0.9), Sampling(1.3, 0, 0.999), Sampling(0.8, 1000, 0.95)],
    ids=str,
)
def test_a_large_vocabulary_is_filtered_as_transformers_does(sampling, scale):
    logits = random_logits(3, 49_152, scale=scale, impossible=0.1)
    # An id at the very border of a nucleus of thousands may fall on either side by rounding.
    torch.testing.assert_close(probabilities(logits, sampling), by_transformers(logits, sampling), atol=2e-5, rtol=1e-3)


@pytest.mark.parametrize("scale", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(0.01), Sampling(1.0, 40), Sampling(1.0, 0, 0.9)], ids=str)
def test_probabilities_sum_to_one_over_a_large_vocabulary(sampling, scale):
    probs = probabilities(random_logits(4, 152_064, scale=scale), sampling)
    assert (probs.sum(-1, dtype=torch.float64) - 1).abs().max() < 1e-6


def test_temperature_zero_is_a_one_hot_on_the_first_maximum():
    logits = torch.tensor([[0.0, 1.0, 3.0, 2.0, 1.0, 3.0], [5.0, 5.0, 5.0, 5.0, 5.0, 5.0]])
    expected = torch.zeros(2, 6)
    expected[0, 2] = expected[1, 0] = 1
    assert torch.equal(probabilities(logits, Sampling(0)), expected)


@pytest.mark.parametrize("temperature", [1e-3, 1e-4, 1e-9, 1e-30, 1e-45, 1e-50, 5e-324])
def test_a_tiny_temperature_takes_the_maximum_and_makes_no_nan(temperature):
    logits = torch.tensor([-torch.inf, -40.0, 30.0, 31.0, -torch.inf])
    assert torch.equal(probabilities(logits, Sampling(temperature)), torch.tensor([0.0, 0, 0, 1, 0]))


@pytest.mark.parametrize("top_p", [1e-4, 1e-8, 1e-45, 1e-50, 5e-324])
@pytest.mark.parametrize("size", [4, 1000])
def test_a_tiny_top_p_keeps_the_maximum_and_makes_no_nan(top_p, size):
    logits = random_logits(1, size)[0]
    probs = probabilities(logits, Sampling(0.8, 0, top_p))
    assert probs.nonzero().tolist() == [[int(logits.argmax())]] and probs.max() == 1


@pytest.mark.parametrize(("top_p", "kept"), [(0.45, 1), (0.7, 2), (0.96, 4), (1.0, 4)])
def test_the_token_that_crosses_top_p_stays(top_p, kept):
    probs = probabilities(logits_of(0.5, 0.3, 0.15, 0.05), Sampling(1, 0, top_p))
    assert int((probs > 0).sum()) == kept


def test_exactly_k_ids_stay_and_ties_go_to_the_lowest():
    probs = probabilities(torch.tensor([1.0, 2.0, 1.0, 1.0, 0.0]), Sampling(1, 2))
    assert (probs > 0).tolist() == [True, True, False, False, False]
    assert probabilities(logits_of(0.4, 0.4, 0.2), Sampling(1, 1)).tolist() == [1, 0, 0]
    assert probabilities(logits_of(0.2, 0.4, 0.4), Sampling(1, 0, 0.5)).tolist() == pytest.approx([0, 0.5, 0.5])
    assert probabilities(logits_of(0.2, 0.4, 0.4), Sampling(1, 0, 0.4)).tolist() == [0, 1, 0]


def tied_rows(size: int, dtype: torch.dtype) -> Tensor:
    """Rows full of equal logits: rounded to few values, one flat, one with a tie at the border of any filter."""
    rows = random_logits(6, size, scale=2.0, seed=size).mul(2).round().div(2)
    rows[1] = 0.0
    rows[2] = -30.0
    rows[2, :10], rows[2, 10:600] = 5.0, 0.0
    rows[3, ::3] = -torch.inf
    return rows.to(dtype)


FILTERS = [
    Sampling(), Sampling(0), Sampling(1, 1), Sampling(1, 50), Sampling(0.7, 700), Sampling(1, 0, 0.3), Sampling(1, 0, 0.75),
    Sampling(1.5, 0, 0.95), Sampling(0.8, 0, 0.999), Sampling(1, 100, 0.5), Sampling(2.0, 1000, 0.9),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [7, 2001, 49_152])
@pytest.mark.parametrize("sampling", FILTERS, ids=str)
def test_a_law_depends_on_its_own_logits_alone(sampling, size, dtype):
    """Alone, stacked, in another order, beside a copy: equal to the bit, on one thread and on two."""
    rows = tied_rows(size, dtype)
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(1))
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            alone = torch.stack([probabilities(row, sampling) for row in rows])
            single = torch.cat([probabilities(row[None], sampling) for row in rows])
            assert torch.equal(probabilities(rows, sampling), alone) and torch.equal(single, alone)
            assert torch.equal(probabilities(rows[order], sampling), alone[order])
            assert torch.equal(probabilities(rows[[2, 2, 1]], sampling), alone[[2, 2, 1]])
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("sampling", FILTERS, ids=str)
def test_the_kept_ids_are_those_of_a_stable_sort(sampling):
    """The reference sorts everything, the lower id first among equals, and keeps what the filters say."""
    for row in tied_rows(2000, torch.bfloat16).float():
        law = probabilities(row, sampling)
        if sampling.temperature == 0:
            assert law.nonzero().flatten().tolist() == [int(row.argmax())]
            continue
        ranked, ids = (row / sampling.temperature).sort(descending=True, stable=True)
        if sampling.top_k:
            ranked, ids = ranked[: sampling.top_k], ids[: sampling.top_k]
        mass = ranked.softmax(-1).double()
        before = mass.cumsum(-1).roll(1)
        before[0] = 0
        kept = ids[((before < sampling.top_p) | (sampling.top_p == 1)) & (mass > 0)]
        assert set(kept.tolist()) == set(law.nonzero().flatten().tolist())


def test_top_k_one_is_temperature_zero():
    rows = tied_rows(2000, torch.bfloat16)
    assert torch.equal(probabilities(rows, Sampling(1.3, 1)), probabilities(rows, Sampling(0)))


@pytest.mark.parametrize("sampling", FILTERS, ids=str)
@pytest.mark.parametrize("broken", ["one NaN", "all NaN", "+inf", "all -inf"])
def test_logits_without_a_law_give_none_and_leave_their_neighbours_alone(sampling, broken):
    rows = random_logits(3, 500)
    expected = probabilities(rows, sampling)
    rows[1] = {"one NaN": rows[1], "+inf": rows[1], "all NaN": torch.nan, "all -inf": -torch.inf}[broken]
    if broken in ("one NaN", "+inf"):
        rows[1, 77] = float(broken.removeprefix("one "))
    law = probabilities(rows, sampling)
    assert lawless(law).tolist() == [False, True, False] and law[1].isnan().all()
    assert torch.equal(law[[0, 2]], expected[[0, 2]])
    assert bool(lawless(probabilities(rows[1], sampling)))
    assert 0 <= int(draw(law[1], 0.999)) < 500, "an id that a model can be fed, for the moment until it is refused"


def test_filters_come_after_temperature_in_the_order_of_transformers():
    """At T = 0.5 the first token holds 0.658 of the mass, at T = 1 only half: top_p 0.6 tells them apart."""
    logits = logits_of(0.5, 0.3, 0.2)
    assert int((probabilities(logits, Sampling(0.5, 0, 0.6)) > 0).sum()) == 1
    assert int((probabilities(logits, Sampling(1.0, 0, 0.6)) > 0).sum()) == 2


@pytest.mark.parametrize(
    ("probs", "sampling", "expected"),
    [
        ((0.4, 0.3, 0.2, 0.1), Sampling(1, 2), (4 / 7, 3 / 7, 0, 0)),
        ((0.1, 0.4, 0.3, 0.2), Sampling(1, 2), (0, 4 / 7, 3 / 7, 0)),
        ((0.5, 0.3, 0.2), Sampling(0.5), (25 / 38, 9 / 38, 4 / 38)),
        ((0.7, 0.3, 0.0), Sampling(2.0), (0.7**0.5, 0.3**0.5, 0)),
    ],
)
def test_laws_worked_out_by_hand(probs, sampling, expected):
    law = torch.tensor(expected) / sum(expected)
    torch.testing.assert_close(probabilities(logits_of(*probs), sampling), law)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_logits_give_float32_probabilities(dtype):
    logits = random_logits(2, 500).to(dtype)
    probs = probabilities(logits, Sampling(1, 0, 0.9))
    assert probs.dtype == torch.float32
    assert torch.equal(probs, probabilities(logits.float(), Sampling(1, 0, 0.9)))


def test_the_logits_given_are_left_as_they_were():
    logits = random_logits(2, 50)
    before = logits.clone()
    probabilities(logits, Sampling(0.5, 5, 0.5))
    assert torch.equal(logits, before)
