"""Running on Hugging Face's ZeroGPU, where a GPU is there only inside a call that asked for it.

The call runs in a forked worker: what goes in and comes out is pickled, and nothing else comes back. So a
whole piece of work is ONE decorated generator, it is told what to do in plain data, and it yields plain
data. Elsewhere work runs where it is.

Every visitor has a daily quota, all those without an account behind one network address share one, and a call is refused
when it asks for more seconds than are left, however few it would have used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import gradio as gr

from specdec.settings import BadInput
from visualizations.serving.inputs import PairChoice
from visualizations.serving.loading import load_choice
from visualizations.text import t

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

    work: there it must be picklable, such as a `functools.partial` of a module's function. Where the GPU is refused, or
    taken back too early, the iterator raises `BadInput`.
    """
    if not on_zero_gpu():
        return work(pair)
    _LENT.clear()
    _LENT[choice] = pair
    return _told_in_words(_BORROWED(choice, work, seconds))


def _told_in_words(steps: Iterator[T]) -> Iterator[T]:
    try:
        yield from steps
    except gr.Error as error:
        refusal = _refusal(f"{getattr(error, 'title', '')} {error.message}".lower())
        if refusal is None:
            raise
        raise BadInput(t(f"app.gpu.{refusal}")) from error


def _refusal(told: str) -> str | None:
    """What an error of `spaces` means; they differ by their words alone. None where the work itself failed."""
    if "task aborted" in told:
        return "taken_back"
    if "worker error" not in told and any(word in told for word in ("quota", "credits", "gpu")):
        return "refused"
    return None


def _in_worker(choice: PairChoice, work: Work[T], seconds: float) -> Iterator[T]:
    if choice not in _LENT:
        _LENT[choice] = load_choice(choice, lambda progress: None)
    yield from work(_LENT[choice])


def _seconds(choice: PairChoice, work: Work[T], seconds: float) -> float:
    return seconds


# Decorated when the module is imported: a Space that has no decorated function at its launch is not lent a GPU.
_BORROWED = spaces.GPU(_in_worker, duration=_seconds) if spaces else _in_worker
