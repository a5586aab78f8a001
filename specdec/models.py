"""What a model is to the decoding loop: feed tokens, get logits, go back.

`TransformersModel` drives any causal LM of `transformers` whose cache can be rewound; `TableModel` is
a table of probabilities with the same interface, so what is shown on a table is shown about the loop.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from specdec.settings import BadInput

if TYPE_CHECKING:
    from specdec.static import StaticModel

PREFILL_CHUNK = 256
NO_LIMIT = 2**20


class CannotRewind(BadInput):
    """The model's cache can't forget rejected drafts, so speculative decoding would be wrong with it."""


class LanguageModel(Protocol):
    """A causal language model with a cache that can go back.

    vocab_size: ids the tokenizer really has; padding ids never get probability.
    max_length: positions the cache may hold. length: tokens now in the cache.
    """

    vocab_size: int
    max_length: int
    length: int
    device: torch.device

    def extend(self, tokens: Tensor) -> Tensor:
        """Feed int64 ids [n]; float32 logits [n, vocab_size], row i after token i."""
        ...

    def prefill(self, tokens: Tensor) -> None:
        """Feed int64 ids [n], n may be 0, whose logits nobody needs."""
        ...

    def rewind(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        ...


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

    def _forward(self, tokens: Tensor, *, keep: int) -> Tensor:
        ids = tokens.to(self.device).unsqueeze(0)
        return self.model(input_ids=ids, cache=self._cache, use_cache=True, logits_to_keep=keep).logits[0]


class TableModel:
    """A table of probabilities in place of a network.

    table: [V] (the same law everywhere) or [V, V] (row i: the law after token i).
    Rows need not be normalised; at temperature 1 the law is the normalised row.
    Raises ValueError for rows that are negative, all zero or not finite.
    """

    def __init__(self, table: Sequence[float] | Sequence[Sequence[float]] | Tensor, max_length: int = NO_LIMIT):
        weights = torch.as_tensor(table, dtype=torch.float64)
        total = weights.sum(-1)
        if weights.ndim not in (1, 2) or (weights < 0).any() or not (total.isfinite() & (total > 0)).all():
            raise ValueError("A table needs one or V rows of non-negative weights with a positive, finite sum.")
        self.vocab_size = weights.shape[-1]
        if weights.ndim == 2 and len(weights) != self.vocab_size:
            raise ValueError(f"A Markov table over {self.vocab_size} ids needs that many rows, not {len(weights)}.")
        self._logits = (weights / total.unsqueeze(-1)).log().float()
        self.name = "The table"
        self.max_length = max_length
        self.length = 0
        self.device = torch.device("cpu")

    def extend(self, tokens: Tensor) -> Tensor:
        self.prefill(tokens)
        rows = self._logits if self._logits.ndim == 2 else self._logits.expand(self.vocab_size, -1)
        return rows[tokens]

    def prefill(self, tokens: Tensor) -> None:
        refuse_overflow(self, len(tokens))
        self.length += len(tokens)

    def rewind(self, length: int) -> None:
        refuse_rewinding_forward(self, length)
        self.length = length


def refuse_overflow(model: TransformersModel | StaticModel | TableModel, count: int) -> None:
    """Raise `BadInput` when `count` more tokens don't fit into the model's cache."""
    if model.length + count > model.max_length:
        raise BadInput(f"{model.name} can hold {model.max_length} tokens; {model.length} + {count} are too many.")


def refuse_rewinding_forward(model: TransformersModel | StaticModel | TableModel, length: int) -> None:
    """Raise ValueError when the model's cache holds fewer than `length` tokens."""
    if length > model.length:
        raise ValueError(f"{model.name} holds {model.length} tokens and can't be rewound to {length}.")


def limits_of(model: PreTrainedModel, vocab_size: int | None) -> tuple[int, int]:
    """Ids that may get probability (the tokenizer's `vocab_size`, None: all), and positions the model knows."""
    config = model.config.get_text_config()
    positions = getattr(config, "max_position_embeddings", None) or NO_LIMIT
    return min(vocab_size or config.vocab_size, config.vocab_size), positions


def refuse_unless_rewindable(model: PreTrainedModel, name: str) -> None:
    """Ask the model, and the cache that `transformers` would build for it, before anything is generated."""
    if model.config.is_encoder_decoder:
        raise CannotRewind(f"{name} is an encoder-decoder model; a causal one is needed.")
    causal = [part.is_causal for part in model.modules() if hasattr(part, "is_causal")]
    if causal and not any(causal):
        raise CannotRewind(f"{name} looks at both sides of a token; a causal model is needed.")
    cache = DynamicCache(config=model.config)
    if model._is_stateful or any(cache.is_linear):
        raise CannotRewind(f"{name} keeps a recurrent state that can't forget rejected drafts.")
    if any(cache.is_sliding):
        raise CannotRewind(f"{name} attends through a sliding window, whose cache can't be rewound.")
    if "cache" not in inspect.signature(model.forward).parameters:
        raise CannotRewind(f"{name} has no cache that can be rewound.")
