"""How much of the device decoding uses: measured ceilings, and where prefill and decoding lie under them.

A pass must read every weight once, whatever the number n of tokens in it, and does about two
operations a weight and token. Operations per byte (arithmetic intensity) thus grow with n: at n = 1 the
memory sets the pace and the arithmetic units wait, which is why n + 1 tokens can be verified at
little more than the price of one; a long prefill is bound by arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass as plain_dataclass
from time import perf_counter
from typing import Literal

import torch
from pydantic.dataclasses import dataclass
from torch import nn
from transformers import PreTrainedModel

from specdec.models.cancelling import Check, go_on
from specdec.models.devices import synchronise
from specdec.models.pairs import Pair
from specdec.settings import BadInput
from specdec.timing.costs import CONTEXT, CostSampler
from specdec.timing.hardware import describe
from specdec.timing.records import STRICT, Hardware, Spread, to_json

DECODE_WIDTHS = (1, 2, 3, 5, 9, 17, 33, 64)
PREFILL_LENGTHS = (64, 128, 256)
BUFFER_BYTES = 256 * 2**20
MATRIX_SIZES = {"cpu": (1024, 2048), "cuda": (4096, 8192), "mps": (2048, 4096)}
CEILING_REPEATS = 5

Kind = Literal["decode", "prefill"]


@dataclass(frozen=True, config=STRICT)
class Ceilings:
    """The best this device was seen to do, in the run's number format.

    copy_rate: bytes read plus bytes written a second, copying 256 MB. matvec_rate: bytes of weights read a
    second, one vector through matrices of 256 MB in all. flop_rate: operations a second of a large
    square matrix product, a multiply-add counted as two.
    """

    copy_rate: float
    matvec_rate: float
    flop_rate: float

    @property
    def byte_rate(self) -> float:
        """The memory's ceiling: the better of the two."""
        return max(self.copy_rate, self.matvec_rate)

    @property
    def ridge(self) -> float:
        """Operations per byte at which both ceilings meet: below it memory is the limit."""
        return self.flop_rate / self.byte_rate


@dataclass(frozen=True, config=STRICT)
class RooflinePoint:
    """A target pass over n tokens behind `context` others. flops, bytes: see `Shape`.

    intensity = flops / bytes; flop_rate and byte_rate: achieved, per second of the median pass.
    """

    kind: Kind
    tokens: int
    context: int
    seconds: Spread
    flops: float
    bytes: float
    intensity: float
    flop_rate: float
    byte_rate: float
    tokens_per_second: float


@dataclass(frozen=True, config=STRICT)
class Roofline:
    """Ceilings and points; it grows as the passes are measured."""

    hardware: Hardware
    pair: str
    dtype: str
    ceilings: Ceilings
    points: tuple[RooflinePoint, ...]
    done: int
    total: int

    def bound(self, point: RooflinePoint) -> Literal["memory", "arithmetic"]:
        """Which ceiling is over the point."""
        return "memory" if point.intensity < self.ceilings.ridge else "arithmetic"

    def to_json(self) -> str:
        return to_json(self)


@plain_dataclass(frozen=True)
class Shape:
    """What a pass must do, counted from the model. Norms, rotations and activations are left out.

    body, head: weights that are multiplied (all matrices but the input embeddings; the output
    head). layers, width: attention layers and their query width (heads x head size). kv_width: key
    heads x head size. item: bytes of a number.
    """

    body: int
    head: int
    layers: int
    width: int
    kv_width: int
    item: int

    def flops(self, tokens: int, context: int, scored: int) -> float:
        """2 body n + 2 head scored + 4 layers width (n context + n (n + 1) / 2), the last for attention."""
        pairs = tokens * context + tokens * (tokens + 1) / 2
        return 2.0 * self.body * tokens + 2.0 * self.head * scored + 4.0 * self.layers * self.width * pairs

    def bytes(self, tokens: int, context: int) -> float:
        """Weights once, keys and values of context and new tokens once."""
        return float(self.item * (self.body + self.head + 2 * self.layers * self.kv_width * (context + tokens)))

    @classmethod
    def of(cls, model: PreTrainedModel) -> Shape:
        """Counted from the model's own parameters and configuration."""
        config = model.config.get_text_config()
        head = model.get_output_embeddings().weight
        tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)} | {id(head)}
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        kv_heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        return cls(
            body=sum(p.numel() for p in model.parameters() if p.ndim >= 2 and id(p) not in tables),
            head=head.numel(),
            layers=config.num_hidden_layers,
            width=config.num_attention_heads * size,
            kv_width=kv_heads * size,
            item=head.element_size(),
        )


def measure_roofline(
    pair: Pair,
    *,
    repeats: int = 10,
    widths: Sequence[int] = DECODE_WIDTHS,
    prefills: Sequence[int] = PREFILL_LENGTHS,
    context: int = CONTEXT,
) -> Iterator[Roofline]:
    """The ceilings, then the target's passes; the record after each repeat. Close it to stop."""
    model = getattr(pair.target, "model", None)
    if not isinstance(model, PreTrainedModel):
        raise BadInput("A roofline needs a model of transformers as the target.")
    shape = Shape.of(model)
    ceilings = measure_ceilings(pair.target.device, model.dtype, pair.check)
    hardware = describe(pair.target.device)
    sampler = CostSampler(pair, widths=widths, prefills=prefills, context=context, draft=False, planned=repeats)
    sampler.sample(count=False)
    for _ in range(repeats):
        sampler.sample()
        costs = sampler.costs()
        points = [_point(shape, "decode", cost.tokens, context, cost.tokens, cost.seconds) for cost in costs.target]
        points += [_point(shape, "prefill", cost.tokens, 0, 1, cost.seconds) for cost in costs.prefill]
        yield Roofline(hardware, pair.info.name, pair.dtype, ceilings, tuple(points), costs.done, costs.total)


def _point(shape: Shape, kind: Kind, tokens: int, context: int, scored: int, seconds: Spread) -> RooflinePoint:
    flops, size = shape.flops(tokens, context, scored), shape.bytes(tokens, context)
    return RooflinePoint(
        kind=kind,
        tokens=tokens,
        context=context,
        seconds=seconds,
        flops=flops,
        bytes=size,
        intensity=flops / size,
        flop_rate=flops / seconds.median,
        byte_rate=size / seconds.median,
        tokens_per_second=tokens / seconds.median,
    )


@torch.inference_mode()
def measure_ceilings(device: torch.device, dtype: torch.dtype, check: Check = go_on) -> Ceilings:
    """Best of several tries after a warm-up. Needs about 600 MB on the device. check: called before every try."""
    item = torch.empty(0, dtype=dtype).element_size()
    source = torch.ones(BUFFER_BYTES // item, dtype=dtype, device=device)
    copy = torch.empty_like(source)
    copy_seconds = _best(lambda: copy.copy_(source), device, check)

    side = 2048
    matrices = source[: source.numel() // side**2 * side**2].view(-1, side, side)
    vector = torch.ones(1, side, dtype=dtype, device=device)
    matvec_seconds = _best(lambda: [nn.functional.linear(vector, matrix) for matrix in matrices], device, check)

    flop_rates = []
    for size in MATRIX_SIZES[device.type]:
        square = torch.ones(size, size, dtype=dtype, device=device)
        flop_rates.append(2 * size**3 / _best(lambda square=square: square @ square, device, check))
    return Ceilings(
        copy_rate=2 * BUFFER_BYTES / copy_seconds,
        matvec_rate=matrices.numel() * item / matvec_seconds,
        flop_rate=max(flop_rates),
    )


def _best(work: Callable[[], object], device: torch.device, check: Check) -> float:
    """Seconds of the quickest of `CEILING_REPEATS` tries."""
    spans = []
    for _ in range(CEILING_REPEATS + 1):
        check()
        synchronise(device)
        started = perf_counter()
        work()
        synchronise(device)
        spans.append(perf_counter() - started)
    return min(spans[1:])
