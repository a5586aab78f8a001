"""Weights in 8 bits: how far they may be off, and that a prompt and a single token see the same ones."""

import pytest
import torch
from torch import nn

from specdec.models.int8 import FEW_ROWS, Int8Linear, in_eight_bits


def weights(dtype, rows=24, width=64):
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(3)).to(dtype)


def kept(linear):
    return linear.rows.float() * linear.scales.float()[:, None]


def test_each_weight_is_off_by_half_a_step_at_most():
    exact = weights(torch.float32)
    error = (kept(Int8Linear(exact)) - exact).abs().amax(1)
    half_step = exact.abs().amax(1) / 254
    assert (error <= half_step * 1.001).all()
    assert (error > half_step * 0.5).all()


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
@pytest.mark.parametrize("rows", [1, *FEW_ROWS.values(), *(few + 1 for few in FEW_ROWS.values()), 40])
def test_one_token_and_a_prompt_meet_the_same_weights(dtype, tolerance, rows):
    linear = Int8Linear(weights(dtype))
    inputs = torch.randn(rows, 64, generator=torch.Generator().manual_seed(rows)).to(dtype)
    outputs = linear(inputs)
    assert outputs.dtype == dtype
    torch.testing.assert_close(
        outputs.float(), inputs.float() @ kept(linear).T, rtol=tolerance, atol=tolerance * kept(linear).norm(dim=1).max()
    )


def test_leading_dimensions_stay():
    linear = Int8Linear(weights(torch.bfloat16))
    assert linear(torch.ones(2, 3, 64, dtype=torch.bfloat16)).shape == (2, 3, 24)
    assert linear(torch.ones(64, dtype=torch.bfloat16)).shape == (24,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_row_of_zeros_stays_zero(dtype):
    exact = weights(dtype)
    exact[5] = 0
    assert Int8Linear(exact)(torch.ones(1, 64, dtype=dtype))[0, 5] == 0
    assert Int8Linear(exact).rows.abs().amax(1).tolist() == [127] * 5 + [0] + [127] * 18


def test_rounding_the_scale_costs_no_more_than_rounding_the_weights():
    exact = weights(torch.bfloat16)
    error = (kept(Int8Linear(exact)) - exact.float()).abs().amax(1)
    assert (error <= 1.02 * exact.float().abs().amax(1) / 254).all()


def test_only_linear_maps_without_bias_are_replaced():
    model = nn.Sequential(nn.Linear(8, 8, bias=False), nn.Sequential(nn.Linear(8, 8)), nn.LayerNorm(8))
    biased, norm = model[1][0], model[2]
    in_eight_bits(model)
    assert isinstance(model[0], Int8Linear)
    assert model[1][0] is biased and model[2] is norm
