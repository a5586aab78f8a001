"""Hidden states out of the middle of a network, by hooks that are there while they are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel


class Taps:
    """Takes hidden states out of the passes of a network.

    places: 0 is its embeddings, k the output of its decoder layer k, counted from 1, before any final norm.
    outputs: of the pass, or of each piece of it, since they were last opened: for each place [1, n, width] tensors.
    """

    def __init__(self, network: PreTrainedModel, places: Sequence[int]):
        layers = network.get_decoder().layers
        self._modules = [layers[place - 1] if place else network.get_input_embeddings() for place in places]
        self.clear()

    def clear(self) -> None:
        self.outputs: list[list[Tensor]] = [[] for _ in self._modules]

    @contextmanager
    def opened(self) -> Iterator[None]:
        self.clear()
        hooks = [module.register_forward_hook(partial(self._take, n)) for n, module in enumerate(self._modules)]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def taken(self) -> Tensor:
        """[n, places, width]."""
        return torch.stack([torch.cat(pieces, dim=1)[0] for pieces in self.outputs], dim=1)

    def _take(self, number: int, module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        self.outputs[number].append(output)
