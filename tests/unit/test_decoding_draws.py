"""Draws by inverse CDF, the overlap and the residual, and the streams of uniforms behind them."""

from __future__ import annotations

import json
import math
import random
from decimal import Decimal

import numpy as np
import pytest
import torch

from specdec.decoding.probabilities import RandomStreams, draw, entropy, overlap, residual, residual_mass

LOWEST, HIGHEST = 0.5e-9, 1 - 0.5e-9


def random_pairs(count: int, size: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(2, count, size, generator=generator)
    logits[1] = logits[1].masked_fill(torch.rand(count, size, generator=generator) < 0.3, -torch.inf)
    return tuple(logits.softmax(-1))


@pytest.mark.parametrize("uniform", [LOWEST, 1e-7, 0.25, 0.5, 0.75, 1 - 1e-7, HIGHEST])
@pytest.mark.parametrize("where", ["first", "last", "alternate"])
@pytest.mark.parametrize("size", [4, 49_152])
def test_an_id_of_probability_zero_is_never_drawn(uniform, where, size):
    probs = torch.rand(size, generator=torch.Generator().manual_seed(1))
    index = torch.arange(size)
    probs[{"first": index < size // 2, "last": index >= size // 2, "alternate": index % 2 == 0}[where]] = 0
    assert probs[draw(probs / probs.sum(), uniform)] > 0


@pytest.mark.parametrize(("uniform", "expected"), [(LOWEST, 1), (HIGHEST, 3)])
def test_the_extreme_uniforms_draw_the_outermost_possible_ids(uniform, expected):
    assert int(draw(torch.tensor([0.0, 0.2, 0.0, 0.8, 0.0]), uniform)) == expected


def test_equally_spaced_uniforms_draw_each_id_as_often_as_its_probability_says():
    probs = torch.tensor([0.1, 0.0, 0.2, 0.3, 0.4])
    drawn = [int(draw(probs, (k + 0.5) / 1000)) for k in range(1000)]
    assert np.bincount(drawn, minlength=5).tolist() == [100, 0, 200, 300, 400]


def test_rows_are_drawn_each_with_its_own_uniform():
    probs = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    assert draw(probs, torch.tensor([0.7, 0.2])).tolist() == [1, 1]
    assert draw(probs, 0.9).tolist() == [1, 2]


def test_the_tail_of_a_large_vocabulary_can_be_drawn():
    probs = torch.full((50_000,), 1 / 50_000)
    assert int(draw(probs, HIGHEST)) == 49_999


def test_the_residual_divides_and_does_not_soften():
    p, q = torch.tensor([0.6, 0.3, 0.1]), torch.tensor([0.1, 0.3, 0.6])
    assert residual(p, q).tolist() == [1, 0, 0]
    assert float(overlap(p, q)) == pytest.approx(0.5) == float(residual_mass(p, q))


def test_the_residual_of_equal_laws_is_the_law():
    p = torch.tensor([0.7, 0.2, 0.1])
    assert torch.equal(residual(p, p), p)


@pytest.mark.parametrize("step", [1e-9, 1e-8, 6e-8, 1e-6])
def test_the_residual_of_laws_equal_up_to_rounding_is_a_law(step):
    p = torch.tensor([0.7, 0.2, 0.1])
    law = residual(p, p + torch.tensor([-step, 0, step]))
    assert law.isfinite().all() and (law >= 0).all() and float(law.sum()) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("size", [5, 1000, 49_152])
def test_overlap_and_residual_rebuild_the_target(size):
    p, q = random_pairs(20, size)
    mass = residual_mass(p, q)
    torch.testing.assert_close(overlap(p, q) + mass, torch.ones(20, dtype=torch.float64), atol=2e-6, rtol=0)
    rebuilt = torch.minimum(p, q) + mass.unsqueeze(-1) * residual(p, q)
    torch.testing.assert_close(rebuilt.float(), p, atol=1e-6, rtol=1e-5)


def test_entropy_of_known_laws_in_nats():
    laws = torch.tensor([[0.25, 0.25, 0.25, 0.25], [1.0, 0, 0, 0], [0.5, 0.5, 0, 0]])
    assert entropy(laws).tolist() == pytest.approx([math.log(4), 0, math.log(2)])


def test_uniforms_lie_inside_the_open_interval_and_keep_ten_digits_in_json():
    streams = RandomStreams(3)
    values = streams.drafts.take(2000) + [streams.coins.one() for _ in range(10)]
    for value in values:
        assert 0 < value < 1
        assert json.loads(json.dumps(value)) == value
        assert Decimal(repr(value)) == Decimal(repr(value)).quantize(Decimal("1e-10"))
        assert Decimal(repr(value)) * 10**10 % 10 == 5


def test_taking_many_or_one_by_one_gives_the_same_uniforms():
    together, singly = RandomStreams(11), RandomStreams(11)
    assert together.coins.take(5) == [singly.coins.one() for _ in range(5)]


def test_the_streams_of_one_seed_and_of_nearby_seeds_are_unrelated():
    count = 20_000
    rows = [getattr(RandomStreams(seed), name).take(count) for seed in (0, 1, 2) for name in ("drafts", "coins", "resampling")]
    correlations = np.corrcoef(rows)[np.triu_indices(9, 1)]
    assert np.abs(correlations).max() < 6 / math.sqrt(count)
    firsts = [[getattr(RandomStreams(seed), name).one() for seed in range(3000)] for name in ("drafts", "coins", "resampling")]
    shifted = [firsts[0][1:], firsts[1][1:], firsts[0][:-1], firsts[1][:-1], firsts[2][:-1]]
    assert np.abs(np.corrcoef(shifted)[np.triu_indices(5, 1)]).max() < 6 / math.sqrt(3000)


def test_taking_from_one_stream_leaves_the_others_alone():
    busy, idle = RandomStreams(5), RandomStreams(5)
    busy.drafts.take(100)
    assert busy.coins.take(3) == idle.coins.take(3)
    assert busy.resampling.take(3) == idle.resampling.take(3)


def test_the_global_random_states_are_neither_read_nor_written():
    def states():
        return random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()

    random.seed(1), np.random.seed(1), torch.manual_seed(1)
    before, first = states(), RandomStreams(9).drafts.take(4)
    assert states() == before
    random.seed(2), np.random.seed(2), torch.manual_seed(2)
    assert RandomStreams(9).drafts.take(4) == first
