"""Which device, and which number format is fast on it: measured, not guessed."""

from __future__ import annotations

import functools
from time import perf_counter

import torch

from specdec.models.cores import usable_cores
from specdec.settings import DTYPES, BadInput, choice, is_a, shown

_WORTH_IT = 1.15


def pick_device(name: str | torch.device = "auto") -> torch.device:
    """'auto' is cuda, else mps, else cpu. Raises `BadInput` for a device that isn't there."""
    if not is_a(name, str, torch.device):
        raise BadInput("There is no device {name} here.", name=shown(name))
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device).tolist()  # some that torch has a name for keep no numbers
    except (RuntimeError, AssertionError, ValueError):
        raise BadInput("There is no device {name} here.", name=shown(name)) from None
    return device


def pick_dtype(name: str, device: torch.device) -> torch.dtype:
    """The named dtype; 'auto' is bfloat16 where it is faster than float32 on this device."""
    picked = choice("dtype", name, DTYPES)
    if picked != "auto":
        return getattr(torch, picked)
    return torch.bfloat16 if bfloat16_pays(device) else torch.float32


@functools.cache
def bfloat16_pays(device: torch.device) -> bool:
    """Whether a small feed-forward layer on a few tokens, decoding's daily work, is faster in bfloat16."""
    return _WORTH_IT * _layer_seconds(torch.bfloat16, device) < _layer_seconds(torch.float32, device)


def _layer_seconds(dtype: torch.dtype, device: torch.device, repeats: int = 60) -> float:
    """Median seconds of a 5 x 576 x 1536 product, over weights too many for the nearest caches."""
    weights = [torch.zeros(1536, 576, dtype=dtype, device=device) for _ in range(12)]
    tokens = torch.zeros(5, 576, dtype=dtype, device=device)
    spans = []
    for repeat in range(repeats):
        synchronise(device)
        started = perf_counter()
        torch.nn.functional.linear(tokens, weights[repeat % len(weights)])
        synchronise(device)
        spans.append(perf_counter() - started)
    return sorted(spans)[repeats // 2]


def use_threads(count: int | None) -> None:
    """Let torch compute with `count` threads; None: as many as it likes, but no more than the cores it may use."""
    torch.set_num_threads(count or min(torch.get_num_threads(), usable_cores()))


def synchronise(device: torch.device) -> None:
    """Wait until the device has done all it was given, so that a clock read now means something."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
