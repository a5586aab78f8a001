"""Linear maps that keep their weights in 8 bits, for a draft model on a CPU.

To draft one token is to read every weight of the draft once, so half the bytes take about half the time. Any law
may draft: rounding the weights can cost acceptance, never exactness.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# Rows up to which the product of 8-bit weights, whose time grows with every row, beats one conversion of them all.
# torch's kernel for float32 is several times slower than that for bfloat16.
FEW_ROWS = {torch.bfloat16: 16, torch.float32: 4}


class Int8Linear(nn.Module):
    """x -> x Wᵀ with W [out, in] as int8, -127 to 127, times one scale a row, about max|W[i]| / 127.

    Args:
        weight: [out, in] float32, float16 or bfloat16, whose dtype inputs must have.
    """

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        exact = weight.detach().float()
        scales = (exact.abs().amax(dim=1) / 127).clamp_min(torch.finfo(weight.dtype).tiny).to(weight.dtype)
        rows = (exact / scales.float()[:, None]).round().clamp(-127, 127).to(torch.int8)
        self.register_buffer("rows", rows, persistent=False)
        self.register_buffer("scales", scales, persistent=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """[..., in] -> [..., out]."""
        flat = inputs.reshape(-1, inputs.shape[-1])
        if len(flat) <= FEW_ROWS.get(flat.dtype, 4):
            outputs = torch.ops.aten._weight_int8pack_mm(flat, self.rows, self.scales)
        else:  # a prompt is bound by arithmetic, which is quicker after one conversion
            outputs = F.linear(flat, self.rows.to(flat.dtype)) * self.scales
        return outputs.view(*inputs.shape[:-1], -1)


def in_eight_bits(model: nn.Module) -> None:
    """Replace every `nn.Linear` without bias inside `model` by an `Int8Linear`."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and child.bias is None:
                setattr(parent, name, Int8Linear(child.weight))
