"""The distillation loss, fused with the trimmed head so that no [positions, head] tensor outlives a slice.

Both losses have a gradient in the logits z of the form  dense · softmax(z) − sparse,  where `sparse` lives on the
teacher's likeliest ids alone; the backward pass is therefore done in the forward one, slice by slice.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

ROWS_AT_ONCE = 256


def head_loss(
    hidden: Tensor, rows: Tensor, teacher_index: Tensor, teacher_probs: Tensor, weights: Tensor, finish: float
) -> tuple[Tensor, Tensor]:
    """Weighted mean distance from the teacher's distribution, and the overlap that it gives.

    Args:
        hidden: [n, width] the student's last hidden states.
        rows: [head, width] output vectors, frozen.
        teacher_index: [n, k] places in the head of the teacher's likeliest ids; any place where the probability is 0.
        teacher_probs: [n, k] their probabilities; 0 for ids outside the head.
        weights: [n] of the positions.
        finish: 0 for cross-entropy with the teacher (KL up to a constant), 1 for total variation, or a mixture.

    Returns:
        loss: differentiable in `hidden`.
        overlap: the weighted mean of the sum of min(teacher, student) over the k ids.
    """
    loss, overlap = _HeadLoss.apply(hidden, rows, teacher_index, teacher_probs, weights, finish)
    return loss, overlap


class _HeadLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, rows, teacher_index, teacher_probs, weights, finish):  # type: ignore[no-untyped-def]
        share = weights / weights.sum()
        gradient = torch.empty_like(hidden)
        loss, overlap = torch.zeros((), device=hidden.device), torch.zeros((), device=hidden.device)
        for start in range(0, len(hidden), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            index, teacher, weight = teacher_index[part], teacher_probs[part], share[part]
            student = F.linear(hidden[part], rows).float()
            logsumexp = student.logsumexp(dim=-1, keepdim=True)
            logprobs = student.gather(1, index) - logsumexp
            student.sub_(logsumexp).exp_()
            probs = logprobs.exp()
            both = torch.minimum(probs, teacher).sum(dim=1)
            lacking = probs * (probs < teacher)
            cross_entropy = -(teacher * logprobs).sum(dim=1)
            loss += (weight * ((1 - finish) * cross_entropy + finish * (1 - both))).sum()
            overlap += (weight * both).sum()
            dense = (1 - finish) * teacher.sum(dim=1) + finish * lacking.sum(dim=1)
            sparse = (1 - finish) * teacher + finish * lacking
            student.mul_((weight * dense)[:, None]).scatter_add_(1, index, -weight[:, None] * sparse)
            gradient[part] = student.to(rows.dtype) @ rows
        ctx.save_for_backward(gradient)
        ctx.mark_non_differentiable(overlap)
        return loss, overlap

    @staticmethod
    def backward(ctx, grad_loss, _grad_overlap):  # type: ignore[no-untyped-def]
        (gradient,) = ctx.saved_tensors
        return gradient * grad_loss.to(gradient.dtype), None, None, None, None, None
