"""Logits to probabilities with exactly the meaning of `transformers`, at every size and strictness."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from specdec.decoding.probabilities import probabilities
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


def test_ties_with_the_last_of_top_k_stay():
    probs = probabilities(torch.tensor([2.0, 1.0, 1.0, 0.0]), Sampling(1, 2))
    assert (probs > 0).tolist() == [True, True, True, False]


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
