"""Works that tell in which process they run, for tests of where models are. At the top of a module, so that they travel."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visualizations.serving.backend import Work
from visualizations.serving.works import Decode


@dataclass(frozen=True)
class Counting(Work[Iterator[int]]):
    """Its process's id, then number after number, a pass of the target before each. ended: a file, made when it is over."""

    ended: Path
    most: int = 600

    def __call__(self, pair: Any) -> Iterator[int]:
        import torch

        try:
            yield os.getpid()
            for number in range(self.most):
                time.sleep(0.05)
                pair.target.rewind(0)
                pair.target.extend(torch.tensor([1]))
                yield number
        finally:
            self.ended.touch()

    def checked(self) -> Counting:
        return self


@dataclass(frozen=True)
class Located(Work[Iterator[Any]]):
    """A run behind its process's id. pause: seconds before each part of it."""

    run: Decode
    pause: float = 0.0

    def __call__(self, pair: Any) -> Iterator[Any]:
        yield os.getpid()
        for part in self.run(pair):
            time.sleep(self.pause)
            yield part

    def checked(self) -> Located:
        return Located(self.run.checked(), self.pause)
