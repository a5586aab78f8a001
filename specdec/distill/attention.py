"""Attention over a preallocated cache, with the query heads of one key-value head as extra query rows of that head."""

from __future__ import annotations

import torch
from torch import Tensor


def rotate(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding of `heads` [..., head_dim]; cos and sin broadcast against it."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat((-second, first), dim=-1) * sin


def attend(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Attention of several new positions a row, row by row, so that the scores stay in the CPU's cache.

    Args:
        query: [rows, kv_heads, group · count, head_dim].
        keys, values: [rows, kv_heads, length, head_dim].
        mask: [rows, group · count, length] additive.
    """
    scaled = query * query.shape[-1] ** -0.5
    mixed = torch.empty_like(query)
    for row, (row_keys, row_mask) in enumerate(zip(keys, mask, strict=True)):
        scores = torch.baddbmm(row_mask.expand(len(row_keys), -1, -1), scaled[row], row_keys.transpose(1, 2))
        torch.bmm(scores.softmax(dim=-1), values[row], out=mixed[row])
    return mixed


def attend_once(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Attention of one new position a row, as two batched products of whole (contiguous) caches.

    On a CPU this is several times faster than the fused kernel, and slices of a cache would be copied first.

    Args:
        query: [rows, kv_heads, group, head_dim].
        keys, values: [rows, kv_heads, length, head_dim], the leading two dimensions viewable as one.
        mask: [rows, 1, length] additive.
    """
    rows, kv_heads, group, head_dim = query.shape
    scores = torch.bmm(query.flatten(0, 1), keys.flatten(0, 1).transpose(1, 2)).view(rows, kv_heads, group, -1)
    weights = (scores * head_dim**-0.5 + mask[:, None]).softmax(dim=-1)
    return torch.bmm(weights.flatten(0, 1), values.flatten(0, 1)).view_as(query)
