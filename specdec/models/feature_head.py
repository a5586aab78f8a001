"""A draft head fed with the target's own hidden states: EAGLE's idea, on the target's embeddings and output rows.

The row of place i joins the embedding of token i with the feature of place i - 1, and gives the law of token i + 1.
A feature is a mix of the target's hidden states at a token (`mixed`), or in its place the head's own hidden state of
that row (`extend`): after a pass of the target true features exist for every row up to that of the last committed
token, and further into the draft the head goes on with what it said itself. Place 0 has a feature of zeros.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import DynamicCache, PretrainedConfig, PreTrainedModel
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRMSNorm, apply_rotary_pos_emb

from specdec.models.int8 import in_eight_bits
from specdec.models.shards import read_shards, write_shards
from specdec.models.student import refuse_misfit, trimmed_head

FORMAT = "specdec-feature-head/1"
SHARED = ("embed_tokens.", "lm_head.")

Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""(layer, query [rows, heads, n, head_dim], new keys, new values [rows, kv_heads, n, head_dim]) -> like the query."""


class FeatureHead(nn.Module):
    """A few decoder layers over joined embeddings and features; built by `build_feature_head`.

    Attributes:
        taps: which hidden states of the target make a feature: 0 is its embeddings, k the output of its layer k,
            counted from 1. The last layer's is taken before the final norm (where `transformers`' last entry of
            `hidden_states` is after it).
        config: the target's, with the head's number of layers.
        vocab_size: length of the logits.
    """

    def __init__(self, config: PretrainedConfig, taps: Sequence[int]) -> None:
        super().__init__()
        width, eps = config.hidden_size, config.rms_norm_eps
        self.config, self.taps, self.vocab_size = config, tuple(taps), config.vocab_size
        self.tap_norms = nn.ModuleList(LlamaRMSNorm(width, eps) for _ in self.taps)
        self.mix = nn.Linear(len(self.taps) * width, width, bias=False)
        self.embed_norm, self.feature_norm = LlamaRMSNorm(width, eps), LlamaRMSNorm(width, eps)
        self.join = nn.Linear(2 * width, width, bias=False)
        self.layers = nn.ModuleList(LlamaDecoderLayer(config, number) for number in range(config.num_hidden_layers))
        self.norm = LlamaRMSNorm(width, eps)

    def mixed(self, taken: Tensor) -> Tensor:
        """[..., len(taps), width] hidden states of the target at some tokens -> [..., width] their features."""
        normed = [norm(taken[..., number, :]) for number, norm in enumerate(self.tap_norms)]
        return self.mix(torch.cat(normed, dim=-1))

    def new_cache(self) -> DynamicCache:
        """An empty cache for `extend`; a rejected draft is forgotten by its `crop`."""
        return DynamicCache(config=self.config)

    def extend(self, tokens: Tensor, features: Tensor, cache: DynamicCache, start: int) -> Tensor:
        """The rows of some more tokens of one text.

        Args:
            tokens: [n] int64, at the places `start`, `start` + 1, ...
            features: [n, width] of the places before theirs: `mixed` ones, or rows that this method returned.
            cache: holds the rows of the places before `start` and takes these.
            start: place of the first token.

        Returns:
            [n, width] hidden states, after the final norm: for `logits`, and each the feature of its own place.
        """
        places = torch.arange(start, start + len(tokens), device=tokens.device)[None]
        return self.rows(tokens[None], features[None], places, partial(_attend_to_cache, cache))[0]

    def rows(self, tokens: Tensor, features: Tensor, places: Tensor, attend: Attend) -> Tensor:
        """[texts, n] tokens, [texts, n, width] features, [1 or texts, n] places -> [texts, n, width] hidden states.

        attend: what these rows see, e.g. a cache with the rows before them.
        """
        embedded = self.embed_norm(self.embed_tokens(tokens))
        hidden = self.join(torch.cat((embedded, self.feature_norm(features)), dim=-1))
        rotary = self.rotary_emb(hidden, position_ids=places)
        for number, layer in enumerate(self.layers):
            hidden = _through(layer, hidden, rotary, partial(attend, number))
        return self.norm(hidden)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., width] hidden states -> [..., vocab_size] logits of the token after, -inf outside the head's ids."""
        return self.lm_head(hidden)


def _through(
    layer: LlamaDecoderLayer, hidden: Tensor, rotary: tuple[Tensor, Tensor], attend: Callable[..., Tensor]
) -> Tensor:
    """A decoder layer with an attention of our own."""
    own, normed = layer.self_attn, layer.input_layernorm(hidden)
    query, keys, values = (
        project(normed).unflatten(-1, (-1, own.head_dim)).transpose(1, 2)
        for project in (own.q_proj, own.k_proj, own.v_proj)
    )
    query, keys = apply_rotary_pos_emb(query, keys, *rotary)
    hidden = hidden + own.o_proj(attend(query, keys, values).transpose(1, 2).flatten(-2))
    return hidden + layer.mlp(layer.post_attention_layernorm(hidden))


def _attend_to_cache(cache: DynamicCache, layer: int, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    keys, values = cache.update(keys, values, layer)
    count, length = query.shape[-2], keys.shape[-2]
    seen = None
    if count > 1:
        seen = torch.ones(count, length, dtype=torch.bool, device=query.device).tril(length - count)
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=seen, enable_gqa=True)


def build_feature_head(
    target: PreTrainedModel, state: dict[str, Tensor], head_ids: Tensor, taps: Sequence[int]
) -> FeatureHead:
    """A head of the tensors in `state` between the target's embeddings, shared, and its trimmed output rows.

    Args:
        target: a Llama-architecture causal LM.
        state: as `feature_head_state` gives it.
        head_ids: [H] ids the head may propose.
        taps: as `FeatureHead.taps`.

    Returns:
        The head in eval mode, with the device and dtype of the target.
    """
    refuse_misfit(target, state, head_ids)
    config = copy.deepcopy(target.config)
    config.num_hidden_layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[: config.num_hidden_layers]
    with torch.device("meta"):
        head = FeatureHead(config, taps)
    embeddings = target.get_input_embeddings()
    like = embeddings.weight
    head.load_state_dict(
        {name: tensor.to(device=like.device, dtype=like.dtype) for name, tensor in state.items()}, assign=True
    )
    head.embed_tokens = embeddings
    head.rotary_emb = target.get_decoder().rotary_emb
    head.lm_head = trimmed_head(target, head_ids)
    return head.eval()


def own_parameters(head: FeatureHead) -> dict[str, nn.Parameter]:
    """The parameters that the head doesn't share with its target."""
    return {name: parameter for name, parameter in head.named_parameters() if not name.startswith(SHARED)}


def feature_head_state(head: FeatureHead) -> dict[str, Tensor]:
    """The head's own tensors, named as `build_feature_head` and `save_feature_head` expect them."""
    return {name: parameter.detach() for name, parameter in own_parameters(head).items()}


def load_feature_head(target: PreTrainedModel, folder: Path, *, head: int | None = None) -> FeatureHead:
    """The head kept in `folder`, checked against its sha256 sums and built on the target's embeddings.

    head: score only so many of its ids, the lowest, as in `load_student`. None: all. On a CPU its own matrices and
    its output rows are held in 8 bits.
    """
    state, head_ids, taps = read_feature_head(folder)
    built = build_feature_head(target, state, head_ids[:head], taps)
    if target.device.type == "cpu":
        in_eight_bits(built)
    return built


def read_feature_head(folder: Path) -> tuple[dict[str, Tensor], Tensor, tuple[int, ...]]:
    """The tensors, the ids and the taps kept in `folder`, after the check of every shard's sha256."""
    state, _ = read_shards(folder, FORMAT, ("head_ids", "norm.weight", "taps"))
    head_ids, taps = state.pop("head_ids"), state.pop("taps")
    return state, head_ids, tuple(taps.tolist())


def save_feature_head(
    folder: Path, state: dict[str, Tensor], head_ids: Tensor, taps: Sequence[int], about: dict[str, object]
) -> None:
    """Write bf16 shards and the manifest with their sha256 sums, in place of an earlier head's.

    Args:
        folder: created if missing.
        state: as `build_feature_head` takes it.
        head_ids: [H] increasing ids.
        taps: as `FeatureHead.taps`.
        about: further entries of the manifest, e.g. the base model's name.
    """
    tensors = state | {"head_ids": head_ids, "taps": torch.tensor(taps)}
    write_shards(folder, FORMAT, tensors, "feature-head", about)
