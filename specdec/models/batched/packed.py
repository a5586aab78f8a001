"""One pass over the tokens of several texts, laid end to end: everything but attention takes a token by itself.

Each text has its own places, and its tokens attend to its own cache alone. Only for attention are texts of similar
length padded, and what is padded can't be seen. Whoever wants more of a pass than logits, the hidden states of a layer,
say, splits them along the rows' spans as the logits are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.rnn import pad_sequence
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
# Tokens whose padding costs next to nothing: of a text that is attended to, and of what attends.
_SHORT, _FEW = 64, 16


@dataclass(frozen=True)
class Row:
    """Tokens, int64 [n], that go on with the text in a model's own cache. scored: their logits are wanted."""

    model: OwnModel
    tokens: Tensor
    scored: bool = True


@dataclass(frozen=True)
class _Place:
    """Where a row stands in the pass, and how long its text is with it."""

    cache: Cache
    span: slice
    end: int

    @property
    def count(self) -> int:
        return self.span.stop - self.span.start

    def held(self, layer: int, keys: Tensor, values: Tensor) -> list[Tensor]:
        """Puts its part of new keys and values [1, H_kv, tokens, D] into the cache; all that is there, [end, H_kv, D]."""
        both = self.cache.update(keys[:, :, self.span], values[:, :, self.span], layer)
        return [one[0, :, : self.end].transpose(0, 1) for one in both]


@dataclass(frozen=True)
class _Group:
    """Neighbours in the pass whose texts are about as long, so that little is lost where they are padded to attend in
    one call: for a short text a call costs more than its arithmetic.

    mask: bool [rows, 1, most tokens, longest text]. real: which of the padded [rows · most tokens] are the pass's own.
    """

    places: Sequence[_Place]
    mask: Tensor
    real: Tensor

    @classmethod
    def of(cls, places: Sequence[_Place], device: torch.device) -> _Group:
        ends, counts = (torch.tensor([getattr(one, name) for one in places])[:, None] for name in ("end", "count"))
        steps = torch.arange(int(counts.max()))
        seen = torch.arange(int(ends.max())) <= (ends - counts + steps)[:, None, :, None]
        return cls(places, seen.to(device), (steps < counts).flatten().nonzero().flatten().to(device))

    def attend(self, layer: int, query: Tensor, keys: Tensor, values: Tensor, scale: float | None) -> Tensor:
        """[1, H or H_kv, tokens, D] of the whole pass -> [the group's tokens, H, D]."""
        asked = [query[0, :, place.span].transpose(0, 1) for place in self.places]
        held = zip(*(place.held(layer, keys, values) for place in self.places))
        asking, *seen = (pad_sequence(list(parts), batch_first=True).transpose(1, 2) for parts in (asked, *held))
        # The heads that read the same keys ask as one with more queries: left to torch, each would get a copy of them.
        heads = asking.shape[1] // seen[0].shape[1]
        asking = asking.unflatten(1, (-1, heads)).flatten(2, 3)
        mixed = scaled_dot_product_attention(asking, *seen, attn_mask=self.mask.repeat(1, 1, heads, 1), scale=scale)
        return mixed.unflatten(2, (heads, -1)).flatten(1, 2).transpose(1, 2).flatten(0, 1)[self.real]


@torch.inference_mode()
def extend_packed(network: PreTrainedModel, rows: Sequence[Row]) -> list[Tensor | None]:
    """`extend` for each row, float32 logits [n, vocab_size], in one pass; None for those that aren't scored.

    Rows are of different models of `network`. A pass that fails leaves every row's model as it was.
    """
    starts = [row.model.length for row in rows]
    # What is scored comes last, so that only its logits are computed; neighbours are about as long.
    order = sorted(range(len(rows)), key=lambda number: (rows[number].scored, starts[number] + len(rows[number].tokens)))
    spans = [slice(*ends) for ends in pairwise(accumulate((len(rows[number].tokens) for number in order), initial=0))]
    places = [
        _Place(rows[number].model.cache_for(len(rows[number].tokens)), span, starts[number] + len(rows[number].tokens))
        for number, span in zip(order, spans)
    ]
    positions = [torch.arange(place.end - place.count, place.end) for place in places]
    scored = sum(len(row.tokens) for row in rows if row.scored)
    try:
        logits = network(
            input_ids=torch.cat([rows[number].tokens.to(network.device) for number in order]).unsqueeze(0),
            position_ids=torch.cat(positions).to(network.device).unsqueeze(0),
            attention_mask=_UNUSED_MASK,
            use_cache=False,
            logits_to_keep=max(1, scored),  # 0 would be all
            packed=[_Group.of(group, network.device) for group in _alike(places)],
        ).logits[0]
    except BaseException:
        for row, start in zip(rows, starts):
            row.model.drop_behind(start)
        raise
    for row in rows:
        row.model.filled(len(row.tokens))
    left_out = spans[-1].stop - len(logits)
    given: list[Tensor | None] = [None] * len(rows)
    for number, span in zip(order, spans):
        if rows[number].scored:
            own = logits[span.start - left_out : span.stop - left_out]
            given[number] = own[:, : rows[number].model.vocab_size].float()
    return given


def _alike(places: Sequence[_Place]) -> Iterator[list[_Place]]:
    """A new group begins where padding would more than double a text that is attended to, or what attends."""
    group: list[_Place] = []
    for place in places:
        if group and (_apart(place.end, group[0].end, _SHORT) or _apart(place.count, group[0].count, _FEW)):
            yield group
            group = []
        group.append(place)
    yield group


def _apart(one: int, other: int, close: int) -> bool:
    return max(one, other) > 2 * min(one, other) + close


def _attend(module, query, key, value, attention_mask, packed: Sequence[_Group] | None = None, **rest):
    """torch's attention as `transformers` calls it, or a call for each group of a packed pass.

    query [1, H, tokens, D], key and value [1, H_kv, tokens, D] -> [1, tokens, H, D].
    """
    if packed is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **rest)
    parts = [group.attend(module.layer_idx, query, key, value, rest.get("scaling")) for group in packed]
    return torch.cat(parts).unsqueeze(0), None


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
