"""Any causal LM of `transformers` whose cache can be rewound, and the refusal of those whose cache can't."""

from __future__ import annotations

import inspect

import torch
from torch import Tensor
from transformers import Cache, DynamicCache, PreTrainedModel

from specdec.models.interface import NO_LIMIT, refuse_overflow, refuse_rewinding_forward
from specdec.settings import BadInput

PREFILL_CHUNK = 256


class CannotRewind(BadInput):
    """The model's cache can't forget rejected drafts, so speculative decoding would be wrong with it."""


class TransformersModel:
    """A causal LM of `transformers`, in evaluation mode, without gradients.

    vocab_size: None takes the model's own; give the tokenizer's when the embedding is padded.
    Raises `CannotRewind` for recurrent and sliding-window models, with the model's name and why.
    """

    def __init__(self, model: PreTrainedModel, *, name: str = "", vocab_size: int | None = None):
        self.name = name or model.config.name_or_path or type(model).__name__
        refuse_unless_rewindable(model, self.name)
        self.model = model.eval()
        self.vocab_size, self.max_length = limits_of(model, vocab_size)
        self.device = model.device
        self._cache = DynamicCache(config=model.config)

    @property
    def length(self) -> int:
        return self._cache.get_seq_length()

    @torch.inference_mode()
    def extend(self, tokens: Tensor) -> Tensor:
        refuse_overflow(self, len(tokens))
        return self._forward(tokens, keep=0)[:, : self.vocab_size].float()

    @torch.inference_mode()
    def prefill(self, tokens: Tensor) -> None:
        refuse_overflow(self, len(tokens))
        for start in range(0, len(tokens), PREFILL_CHUNK):
            self._forward(tokens[start : start + PREFILL_CHUNK], keep=1)

    def rewind(self, length: int) -> None:
        refuse_rewinding_forward(self, length)
        surplus = self.length - length
        if length == 0:
            self._cache = DynamicCache(config=self.model.config)
        elif surplus:
            self._cache.crop(-surplus)

    def fresh(self) -> TransformersModel:
        """The same network with an empty cache of its own."""
        return TransformersModel(self.model, name=self.name, vocab_size=self.vocab_size)

    def cache_for(self, count: int) -> Cache:
        """The cache, for a pass of somebody else's that puts `count` more tokens in; then call `filled`."""
        return self._cache

    def filled(self, count: int) -> None:
        """`count` tokens were put into the cache: it counts them itself."""

    def drop_behind(self, length: int) -> None:
        """Forget what a pass that broke off left behind the first `length` tokens, in some layers or in all."""
        for layer in self._cache.layers:
            if layer.is_initialized and layer.get_seq_length() > length:
                layer.crop(length - layer.get_seq_length())

    def _forward(self, tokens: Tensor, *, keep: int) -> Tensor:
        ids = tokens.to(self.device).unsqueeze(0)
        return self.model(input_ids=ids, cache=self._cache, use_cache=True, logits_to_keep=keep).logits[0]


def limits_of(model: PreTrainedModel, vocab_size: int | None) -> tuple[int, int]:
    """Ids that may get probability (the tokenizer's `vocab_size`, None: all), and positions the model knows."""
    config = model.config.get_text_config()
    positions = getattr(config, "max_position_embeddings", None) or NO_LIMIT
    return min(vocab_size or config.vocab_size, config.vocab_size), positions


def refuse_unless_rewindable(model: PreTrainedModel, name: str) -> None:
    """Ask the model, and the cache that `transformers` would build for it, before anything is generated."""
    if model.config.is_encoder_decoder:
        raise CannotRewind("{name} is an encoder-decoder model; a causal one is needed.", name=name)
    causal = [part.is_causal for part in model.modules() if hasattr(part, "is_causal")]
    if causal and not any(causal):
        raise CannotRewind("{name} looks at both sides of a token; a causal model is needed.", name=name)
    cache = DynamicCache(config=model.config)
    if model._is_stateful or any(cache.is_linear):
        raise CannotRewind("{name} keeps a recurrent state that can't forget rejected drafts.", name=name)
    if any(cache.is_sliding):
        raise CannotRewind("{name} attends through a sliding window, whose cache can't be rewound.", name=name)
    if "cache" not in inspect.signature(model.forward).parameters:
        raise CannotRewind("{name} has no cache that can be rewound.", name=name)
