"""A draft model that reads its target: a `FeatureHead` as the engine's `LanguageModel`."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from torch import Tensor

from specdec.models.feature_head import FeatureHead
from specdec.models.interface import FeatureSource, refuse_overflow, refuse_rewinding_forward
from specdec.models.rows import Rows
from specdec.models.static import StaticModel
from specdec.models.tapped import TappedModel
from specdec.models.transformers_model import PREFILL_CHUNK, TransformersModel


def reading_pair(
    target: TransformersModel | StaticModel, head: FeatureHead, name: str
) -> tuple[TappedModel, FeatureDraft]:
    """A target and the draft model that reads it. name: the draft's."""
    tapped = TappedModel(target, head.taps)
    return tapped, FeatureDraft(head, tapped, name=name, vocab_size=target.vocab_size)


class FeatureDraft:
    """A `LanguageModel` whose row of a token is made with the feature of the place before it.

    That is the target's own where `source` holds it, so of every committed token, and the head's own hidden state
    where not: further into a draft, or without a target beside it. A row that was made with the head's own is made
    again, together with the next tokens, once the target has read so far. The target's cache must hold the same text.
    """

    def __init__(self, head: FeatureHead, source: FeatureSource, *, name: str, vocab_size: int):
        self.model = head
        self.source = source
        self.name = name
        self.vocab_size = vocab_size
        self.max_length = source.max_length
        self.device = source.device
        self._begin()

    @property
    def length(self) -> int:
        return len(self._hidden)

    def reading(self) -> AbstractContextManager[None]:
        """While it lasts, the target keeps what this draft reads."""
        return self.source.keeping()

    @torch.inference_mode()
    def extend(self, tokens: Tensor) -> Tensor:
        refuse_overflow(self, len(tokens))
        return self.model.logits(self._feed(tokens))[:, : self.vocab_size].float()

    @torch.inference_mode()
    def prefill(self, tokens: Tensor) -> None:
        refuse_overflow(self, len(tokens))
        for start in range(0, len(tokens), PREFILL_CHUNK):
            self._feed(tokens[start : start + PREFILL_CHUNK])

    def rewind(self, length: int) -> None:
        refuse_rewinding_forward(self, length)
        if length == 0:
            self._begin()
        else:
            self._cut(length)

    def _begin(self) -> None:
        self._cache = self.model.new_cache()
        self._hidden = Rows()
        self._own = torch.empty(0, dtype=torch.int64, device=self.device)

    @property
    def _true(self) -> int:
        """How many rows, the first ones, are made with the target's features; `_own` has the tokens of the others."""
        return self.length - len(self._own)

    def _cut(self, length: int) -> None:
        self._own = self._own[: max(0, length - self._true)]
        self._cache.crop(length - self.length)
        self._hidden.cut(length)

    def _feed(self, tokens: Tensor) -> Tensor:
        """[n] tokens -> [n, width] hidden states of their rows."""
        count, tokens = len(tokens), tokens.to(self.device)
        readable = self.source.held + 1  # rows: each needs the place before it, the first none
        if len(self._own) and readable > self._true:
            tokens = torch.cat([self._own, tokens])
            self._cut(self._true)
        read = 0 if len(self._own) else min(len(tokens), max(0, readable - self.length))
        pieces = [self._rows(tokens[:read], self._read(self.length, read))] if read else []
        for place in range(read, len(tokens)):
            token = tokens[place : place + 1]
            pieces.append(self._rows(token, self._hidden.read(self.length - 1, self.length)))
            self._own = torch.cat([self._own, token])
        return torch.cat(pieces)[-count:]

    def _rows(self, tokens: Tensor, features: Tensor) -> Tensor:
        hidden = self.model.extend(tokens, features, self._cache, self.length)
        self._hidden.append(hidden)
        return hidden

    def _read(self, first: int, count: int) -> Tensor:
        """The target's features for `count` rows from row `first` on, [count, width]; zeros before the text."""
        like = self.model.embed_tokens.weight
        before = [like.new_zeros(1, like.shape[1])] if first == 0 else []
        start, stop = max(0, first - 1), first - 1 + count
        known = [self.model.mixed(self.source.features(start, stop))] if start < stop else []
        return torch.cat([*before, *known])
