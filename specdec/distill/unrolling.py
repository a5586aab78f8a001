"""A feature head unrolled on its own outputs: every place of a text is trained as each place of a draft at once.

Step 1 is the rows on true features. In step s the row of place i is the s-th of a draft: the rows up to place
i - s + 1 had true features, and the s - 1 after them, this one among them, the head's own hidden states.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from specdec.models.feature_head import FeatureHead


def unrolled(head: FeatureHead, tokens: Tensor, features: Tensor, steps: int) -> Iterator[Tensor]:
    """The hidden states of every row in each step, differentiable through all of them.

    Args:
        tokens: [texts, n], padded on the right.
        features: [texts, n, width] the target's, each of its token's own place.
        steps: how far to unroll, from 1.

    Yields:
        [texts, n, width] of step 1, 2, ...
    """
    places = torch.arange(tokens.shape[1], device=tokens.device)[None]
    seen = _Seen(len(head.layers))
    for _ in range(steps):
        features = head.rows(tokens, _later(features, 1), places, seen.attend)
        yield features


class _Seen:
    """Keys and values of all steps so far, for each layer."""

    def __init__(self, layers: int) -> None:
        self._steps: list[list[tuple[Tensor, Tensor]]] = [[] for _ in range(layers)]

    def attend(self, layer: int, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """In step s: the rows s - 1 and more places back as step 1 had them, then one row of each later step.

        query: [texts, heads, n, head_dim]; keys, values: [texts, kv_heads, n, head_dim] of the newest step.
        """
        steps = self._steps[layer]
        steps.append((keys, values))
        if len(steps) == 1:
            return F.scaled_dot_product_attention(query, keys, values, is_causal=True, enable_gqa=True)
        own = len(steps) - 1
        near_keys, near_values = (
            torch.stack([_later(pair[which], back)[:, :, None] for back, pair in enumerate(reversed(steps[1:]))], dim=-2)
            for which in (0, 1)
        )
        grouped = query.unflatten(1, (keys.shape[1], -1)) * query.shape[-1] ** -0.5
        far_keys, far_values = (tensor[:, :, None] for tensor in steps[0])
        far, near = _seen_places(query.shape[-2], own, query)
        scores = torch.cat(
            (grouped @ far_keys.transpose(-1, -2) + far, (grouped[..., None, :] * near_keys).sum(-1) + near), dim=-1
        )
        weights = scores.softmax(dim=-1)
        mixed = weights[..., :-own] @ far_values + (weights[..., -own:, None] * near_values).sum(-2)
        return mixed.flatten(1, 2)


def _seen_places(count: int, own: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Additive masks [count, count] of the rows on true features and [count, own] of the rows 0 to own - 1 back."""
    hidden = torch.full((count, count), float("-inf"), dtype=like.dtype, device=like.device)
    return hidden.triu(1 - own), hidden[:, :1].expand(count, own).triu(1)


def _later(rows: Tensor, places: int) -> Tensor:
    """[..., n, width] rows moved to later places, zeros before them."""
    return F.pad(rows, (0, 0, places, 0))[..., : rows.shape[-2], :]
