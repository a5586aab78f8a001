"""A model over a preallocated cache whose position is set back; on CUDA each pass replays a graph.

A small model's pass on a GPU is hundreds of tiny kernels, and launching them takes longer than running
them. The cache never moves and its position is a number on the device, so a pass over n tokens is the
same sequence of kernels every time and can be captured once.
"""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import Cache, PreTrainedModel, StaticCache

from specdec.models.interface import refuse_overflow, refuse_rewinding_forward
from specdec.models.transformers_model import PREFILL_CHUNK, limits_of, refuse_unless_rewindable
from specdec.settings import MAX_GAMMA

DEFAULT_CAPACITY = 4096
_WARM_UPS = 3


class StaticModel:
    """`LanguageModel` with a static cache of `capacity` positions; see the module's docstring.

    Without CUDA it runs the same passes uncaptured. Raises what `TransformersModel` raises.
    """

    def __init__(
        self, model: PreTrainedModel, *, name: str = "", vocab_size: int | None = None, capacity: int = DEFAULT_CAPACITY
    ):
        self.name = name or model.config.name_or_path or type(model).__name__
        refuse_unless_rewindable(model, self.name)
        self.model = model.eval()
        self.vocab_size, positions = limits_of(model, vocab_size)
        self.max_length = min(positions, capacity)
        self.device = model.device
        self.length = 0
        self._cache = StaticCache(config=model.config, max_cache_len=self.max_length)
        self._start = torch.zeros((), dtype=torch.int64, device=self.device)
        self._graphs: dict[int, _Graph] = {}

    @torch.inference_mode()
    def extend(self, tokens: Tensor) -> Tensor:
        refuse_overflow(self, len(tokens))
        tokens = self._begin(tokens)
        capturable = self.device.type == "cuda" and len(tokens) <= MAX_GAMMA + 1
        logits = self._graph_of(len(tokens)).replay(tokens) if capturable else self._forward(tokens, keep=0)
        self.length += len(tokens)
        # A copy: the next replay writes into the same logits.
        return logits[:, : self.vocab_size].to(torch.float32, copy=True)

    @torch.inference_mode()
    def prefill(self, tokens: Tensor) -> None:
        refuse_overflow(self, len(tokens))
        for start in range(0, len(tokens), PREFILL_CHUNK):
            chunk = self._begin(tokens[start : start + PREFILL_CHUNK])
            self._forward(chunk, keep=1)
            self.length += len(chunk)

    def rewind(self, length: int) -> None:
        refuse_rewinding_forward(self, length)
        self.length = length

    def fresh(self) -> StaticModel:
        """The same network with an empty cache of its own."""
        return StaticModel(self.model, name=self.name, vocab_size=self.vocab_size, capacity=self.max_length)

    def cache_for(self, count: int) -> Cache:
        """The cache, for a pass of somebody else's that puts `count` more tokens in; then call `filled`."""
        self._start.fill_(self.length)
        self._set_back()
        return self._cache

    def filled(self, count: int) -> None:
        """`count` tokens were put into the cache."""
        self.length += count

    def drop_behind(self, length: int) -> None:
        """Forget what a pass that broke off left behind the first `length` tokens: nobody looks there."""

    def _begin(self, tokens: Tensor) -> Tensor:
        self._start.fill_(self.length)
        return tokens.to(self.device)

    def _forward(self, tokens: Tensor, *, keep: int) -> Tensor:
        self._set_back()
        positions = self._start + torch.arange(len(tokens), device=self.device)
        return self.model(
            input_ids=tokens.unsqueeze(0),
            position_ids=positions.unsqueeze(0),
            cache=self._cache,
            use_cache=True,
            logits_to_keep=keep,
        ).logits[0]

    def _set_back(self) -> None:
        """Every layer's next token goes to the place that `_start` tells."""
        for layer in self._cache.layers:
            layer.cumulative_length = layer.cumulative_length.to(self.device).copy_(self._start)

    def _graph_of(self, width: int) -> _Graph:
        if width not in self._graphs:
            self._graphs[width] = _Graph(lambda tokens: self._forward(tokens, keep=0), width, self.device)
        return self._graphs[width]


class _Graph:
    """A captured pass over `width` tokens. Warming up and capturing write only where the pass will write."""

    def __init__(self, forward, width: int, device: torch.device):
        self._tokens = torch.zeros(width, dtype=torch.int64, device=device)
        side = torch.cuda.Stream(device)
        side.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(side):
            for _ in range(_WARM_UPS):
                forward(self._tokens)
        torch.cuda.current_stream(device).wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._logits = forward(self._tokens)

    def replay(self, tokens: Tensor) -> Tensor:
        """Logits [width, V], valid until the next replay."""
        self._tokens.copy_(tokens)
        self._graph.replay()
        return self._logits
