"""Any function of a pair as a work for whoever has the models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from visualizations.serving.backend import Work


def nothing(pair: Any) -> Iterator[Any]:
    """Work that is over as soon as it has begun."""
    yield from ()


@dataclass(frozen=True)
class Doing(Work[Any]):
    """tokens: about how many it decodes."""

    function: Callable[[Any], Any]
    about: int = 0

    def __call__(self, pair: Any) -> Any:
        return self.function(pair)

    def checked(self) -> Doing:
        return self

    @property
    def tokens(self) -> int:
        return self.about
