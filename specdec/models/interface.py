"""What a model is to the decoding loop: feed tokens, get logits, go back."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

import torch
from torch import Tensor

from specdec.settings import BadInput

# Positions of a model that says nothing of a limit.
NO_LIMIT = 2**20


class LanguageModel(Protocol):
    """A causal language model with a cache that can go back.

    name: what sentences about it call it.
    vocab_size: ids the tokenizer really has; padding ids never get probability.
    max_length: positions the cache may hold. length: tokens now in the cache.
    """

    name: str
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


class FeatureSource(Protocol):
    """A `LanguageModel` that can keep what some of its layers say of the tokens in its cache.

    held: so many of its first tokens are kept; all, if `keeping` lasts since the cache was empty.
    """

    max_length: int
    device: torch.device
    held: int

    def features(self, start: int, stop: int) -> Tensor:
        """[stop - start, layers, width] of the tokens at these places, in the model's dtype.

        Raises ValueError for places that aren't held.
        """
        ...

    def keeping(self) -> AbstractContextManager[None]:
        """While it lasts, every pass is kept, and whatever `rewind` forgets is forgotten here too."""
        ...


def refuse_overflow(model: LanguageModel, count: int) -> None:
    """Raise `BadInput` when `count` more tokens don't fit into the model's cache."""
    if model.length + count > model.max_length:
        raise BadInput(
            "{name} can hold {most} tokens; {held} + {count} are too many.",
            name=model.name, most=model.max_length, held=model.length, count=count,
        )


def refuse_rewinding_forward(model: LanguageModel, length: int) -> None:
    """Raise ValueError when the model's cache holds fewer than `length` tokens."""
    if length > model.length:
        raise ValueError(f"{model.name} holds {model.length} tokens and can't be rewound to {length}.")
