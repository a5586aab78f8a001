"""Ending work on two models from outside, between two of their passes, whatever the work is.

Importing this module costs no torch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from specdec.models.interface import LanguageModel

Check = Callable[[], None]


class Cancelled(Exception):
    """The work was asked to end before it was done. No fault: nobody waits for it any more."""


def go_on() -> None:
    """The check of work that nobody cancels."""


def cancelled_by(stop: threading.Event) -> Check:
    """A check that raises `Cancelled` once `stop` is set."""

    def check() -> None:
        if stop.is_set():
            raise Cancelled

    return check


class CancellableModel:
    """A `LanguageModel` that calls `check` before every pass; all else is the model's own.

    A prompt is read in the chunks in which the model would read it anyway, so no number changes. Asking
    takes less than a microsecond, next to passes of milliseconds. A cancelled model keeps what its last pass
    left in the cache, as after any fault; whoever begins with it rewinds it to 0.
    """

    def __init__(self, model: LanguageModel, check: Check):
        self._model = model
        self._check = check

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def extend(self, tokens: Tensor) -> Tensor:
        self._check()
        return self._model.extend(tokens)

    def prefill(self, tokens: Tensor) -> None:
        from specdec.models.interface import PREFILL_CHUNK, refuse_overflow

        refuse_overflow(self, len(tokens))
        for chunk in tokens.split(PREFILL_CHUNK):
            self._check()
            self._model.prefill(chunk)
