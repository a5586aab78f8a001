"""A target that keeps what some of its layers say of the tokens in its cache, for a draft that reads it.

That costs only those who ask: outside `keeping` a pass is the model's own, and inside it there are hooks on the
network while a pass lasts, and at no other time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from specdec.models.rows import Rows
from specdec.models.static import StaticModel
from specdec.models.taps import Taps
from specdec.models.transformers_model import TransformersModel


class TappedModel:
    """A `LanguageModel` that is also a `FeatureSource`; but for that it is the model that it is made of.

    places: see `Taps`.
    """

    def __init__(self, model: TransformersModel | StaticModel, places: Sequence[int]):
        self._model = model
        self._taps = Taps(model.model, places)
        self._rows = Rows()
        self._asking = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def held(self) -> int:
        return len(self._rows)

    def features(self, start: int, stop: int) -> Tensor:
        return self._rows.read(start, stop)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._rows = Rows()

    @torch.inference_mode()
    def extend(self, tokens: Tensor) -> Tensor:
        with self._kept(len(tokens)):
            return self._model.extend(tokens)

    @torch.inference_mode()
    def prefill(self, tokens: Tensor) -> None:
        with self._kept(len(tokens)):
            self._model.prefill(tokens)

    def rewind(self, length: int) -> None:
        self._model.rewind(length)
        self._rows.cut(length)

    @contextmanager
    def _kept(self, count: int) -> Iterator[None]:
        """Keep what the pass inside says, if somebody asks and nothing before it is missing."""
        if not count or not self._asking or self.held < self._model.length:
            yield
            return
        try:
            with self._taps.opened(), self._graphs_of_their_own():
                yield
            self._rows.append(self._taps.taken())
        finally:
            self._taps.clear()

    @contextmanager
    def _graphs_of_their_own(self) -> Iterator[None]:
        """A captured graph repeats what was there when it was captured, hooks or none."""
        if not isinstance(self._model, StaticModel):
            yield
            return
        self._model.taps = self._taps
        try:
            yield
        finally:
            self._model.taps = None
