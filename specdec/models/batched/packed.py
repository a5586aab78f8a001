"""One pass over the tokens of several texts, laid end to end: everything but attention takes a token by itself.

Each text has its own places, and its tokens attend to its own cache alone, so there is no padding, and nothing of
one text can be seen by another. Whoever wants more of a pass than logits, the hidden states of a layer, say, splits
them along `spans` as the logits are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface, Cache, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from specdec.models.static import StaticModel
from specdec.models.transformers_model import TransformersModel

OwnModel = TransformersModel | StaticModel
ATTENTION = "specdec_packed"
# A mask of four dimensions is passed on as it is; each text has its own instead.
_UNUSED_MASK = torch.empty(1, 1, 0, 0)
# Of a pass that is right, rounding is all that differs; of one that mixes texts or places, nearly everything.
_MOST_APART = 0.1


@dataclass(frozen=True)
class Row:
    """Tokens, int64 [n], that go on with the text in a model's own cache."""

    model: OwnModel
    tokens: Tensor


@dataclass(frozen=True)
class _Place:
    """Where a row stands in the pass and in its cache. mask: bool [n, end], None where a token may see everything."""

    cache: Cache
    span: slice
    end: int
    mask: Tensor | None


@torch.inference_mode()
def extend_packed(network: PreTrainedModel, rows: Sequence[Row]) -> list[Tensor]:
    """`extend` for each row, float32 logits [n, vocab_size], in one pass. Rows are of different models of `network`.

    A pass that fails leaves every row's model as it was.
    """
    starts = [row.model.length for row in rows]
    counts = [len(row.tokens) for row in rows]
    spans = [slice(*ends) for ends in pairwise(accumulate(counts, initial=0))]
    places = []
    for row, start, count, span in zip(rows, starts, counts, spans):
        places.append(_Place(row.model.cache_for(count), span, start + count, _mask(start, count, network.device)))
    positions = [torch.arange(start, start + count) for start, count in zip(starts, counts)]
    try:
        logits = network(
            input_ids=torch.cat([row.tokens.to(network.device) for row in rows]).unsqueeze(0),
            position_ids=torch.cat(positions).to(network.device).unsqueeze(0),
            attention_mask=_UNUSED_MASK,
            use_cache=False,
            packed=places,
        ).logits[0]
    except BaseException:
        for row, start in zip(rows, starts):
            row.model.drop_behind(start)
        raise
    for row, count in zip(rows, counts):
        row.model.filled(count)
    return [logits[span, : row.model.vocab_size].float() for row, span in zip(rows, spans)]


def _mask(start: int, count: int, device: torch.device) -> Tensor | None:
    if count == 1:
        return None
    return torch.ones(count, start + count, dtype=torch.bool, device=device).tril(start)


def _attend(module, query, key, value, attention_mask, packed: Sequence[_Place] | None = None, **rest):
    """torch's attention as `transformers` calls it, or a call for each row of a packed pass.

    query [1, H, tokens, D], key and value [1, H_kv, tokens, D] -> [1, tokens, H, D].
    """
    if packed is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **rest)
    parts = []
    for place in packed:
        new = key[:, :, place.span], value[:, :, place.span]
        keys, values = (held[:, :, : place.end] for held in place.cache.update(*new, module.layer_idx))
        part = scaled_dot_product_attention(
            query[:, :, place.span], keys, values, attn_mask=place.mask, scale=rest.get("scaling"), enable_gqa=True
        )
        parts.append(part.transpose(1, 2))
    return torch.cat(parts, dim=1), None


AttentionInterface.register(ATTENTION, _attend)
AttentionMaskInterface.register(ATTENTION, sdpa_mask)


def can_pack(model: OwnModel) -> bool:
    """Have the model's network take packed passes, if it can: what it says of two texts at once is tried.

    Afterwards it computes for one text as before, operation for operation.
    """
    network = model.model
    before = network.config._attn_implementation
    if before not in ("sdpa", ATTENTION):
        return False
    try:
        network.set_attn_implementation(ATTENTION)
        if _agrees(model):
            return True
    except (ValueError, TypeError, RuntimeError, AttributeError, IndexError):
        pass  # whatever its own attention makes of ours
    network.set_attn_implementation(before)
    return False


def _agrees(model: OwnModel) -> bool:
    ids = torch.arange(9, device=model.device) % model.vocab_size
    alone, first, second = model.fresh(), model.fresh(), model.fresh()
    first.prefill(ids[:4])
    packed = extend_packed(model.model, [Row(first, ids[4:7]), Row(second, ids[:2])])
    packed += extend_packed(model.model, [Row(first, ids[7:8]), Row(second, ids[2:6])])
    alone.prefill(ids[:4])
    expected = [alone.extend(ids[4:7]), alone.extend(ids[7:8])]
    alone.rewind(0)
    expected[1:1] = [alone.extend(ids[:2])]
    expected.append(alone.extend(ids[2:6]))
    return all(_near(one, other) for one, other in zip(packed, expected))


def _near(logits: Tensor, expected: Tensor) -> bool:
    possible = expected.isfinite()
    if not torch.equal(possible, logits.isfinite()):
        return False
    wanted = expected[possible]
    return bool((logits[possible] - wanted).norm() <= _MOST_APART * (wanted - wanted.mean()).norm())
