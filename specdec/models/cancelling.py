"""Ending work on two models from outside, between two of their passes and amid a prompt, whatever the work is.

Importing this module costs no torch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
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
    """A `LanguageModel` that calls `check` before every pass, and before every layer while it reads a prompt.

    All else is the model's own, and no number changes. Asking takes about a microsecond, next to passes and
    layers of milliseconds. A cancelled model keeps a broken cache, as after any fault; whoever begins with it
    rewinds it to 0.
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
        self._check()
        with _asking(self._model, self._check):
            self._model.prefill(tokens)


def _asking(model: Any, check: Check) -> AbstractContextManager[None]:
    """While it lasts, `model` asks amid a prompt. One whose network others use too knows best when it is its own."""
    own = getattr(model, "asking", None)
    return own(check) if own else asked_before_layers(getattr(model, "model", None), check)


@contextmanager
def asked_before_layers(network: Any, check: Check) -> Iterator[None]:
    """While it lasts, the layers of `network`, if that is one of torch, call `check` first.

    A pass over some hundred tokens of a prompt can take seconds, where the model is large or the machine is busy.
    """
    from torch import nn

    lists = network.modules() if isinstance(network, nn.Module) else ()
    layers = [layer for part in lists if isinstance(part, nn.ModuleList) for layer in part]
    hooks = [layer.register_forward_pre_hook(lambda *_: check()) for layer in layers]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
