"""Running on Hugging Face's ZeroGPU, where a GPU is there only inside a call that asked for it.

The call runs in a forked worker: what goes in and comes out is pickled, and nothing else comes back. So a
whole piece of work is ONE decorated generator, it is told what to do in plain data, and it yields plain
data. Elsewhere work runs where it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from visualizations.serving.inputs import PairChoice
from visualizations.serving.loading import load_choice

try:
    import spaces
except ImportError:
    spaces = None

T = TypeVar("T")
Work = Callable[[Any], Iterator[T]]

# The pair that the main process lent last: a worker forked after that finds it, an older one loads its own.
_LENT: dict[PairChoice, Any] = {}


def on_zero_gpu() -> bool:
    """Whether this process runs on a ZeroGPU Space."""
    return spaces is not None and os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "true")


def run(choice: PairChoice, pair: Any, work: Work[T], seconds: float) -> Iterator[T]:
    """What `work(pair)` yields; on ZeroGPU with the GPU held for at most about `seconds`.

    work: there it must be picklable, such as a `functools.partial` of a module's function.
    """
    if not on_zero_gpu():
        return work(pair)
    _LENT.clear()
    _LENT[choice] = pair
    return _BORROWED(choice, work, seconds)


def _in_worker(choice: PairChoice, work: Work[T], seconds: float) -> Iterator[T]:
    if choice not in _LENT:
        _LENT[choice] = load_choice(choice, lambda progress: None)
    yield from work(_LENT[choice])


def _seconds(choice: PairChoice, work: Work[T], seconds: float) -> float:
    return seconds


# Decorated when the module is imported: a Space that has no decorated function at its launch is not lent a GPU.
_BORROWED = spaces.GPU(_in_worker, duration=_seconds) if spaces else _in_worker
