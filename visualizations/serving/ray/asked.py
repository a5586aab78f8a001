"""What travels from the page to a replica: plain data, which the replica checks again before it asks its models."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from specdec.settings import BadInput, is_a, shown
from visualizations.serving.backend import Backend, Work
from visualizations.serving.inputs import PairChoice, pair_choice

MOST_IN_NAME = 256


class Asked(ABC):
    """One request."""

    @abstractmethod
    def checked(self) -> Asked:
        """The same, of checked parts; raises `BadInput`."""

    @abstractmethod
    def begun(self, backend: Backend, stop: threading.Event) -> Iterator[Any]:
        """What the backend answers."""


@dataclass(frozen=True)
class Using(Asked):
    """Work beside others."""

    choice: PairChoice
    work: Work[Iterator[Any]]

    def checked(self) -> Using:
        return replace(self, choice=checked_choice(self.choice), work=_checked_work(self.work))

    def begun(self, backend: Backend, stop: threading.Event) -> Iterator[Any]:
        return backend.using(self.choice, self.work, stop)


@dataclass(frozen=True)
class Alone(Using):
    """Work that measures: alone on its replica."""

    def begun(self, backend: Backend, stop: threading.Event) -> Iterator[Any]:
        return backend.alone(self.choice, self.work, stop)


@dataclass(frozen=True)
class Beside(Asked):
    """Work that nobody waits for. It has one answer, None where others wanted the models."""

    name: str
    work: Work[Any]

    def checked(self) -> Beside:
        if not is_a(self.name, str) or len(self.name) > MOST_IN_NAME:
            raise BadInput("{value} names no pair of models.", value=shown(self.name))
        return replace(self, work=_checked_work(self.work))

    def begun(self, backend: Backend, stop: threading.Event) -> Iterator[Any]:
        yield backend.beside(self.name, self.work, stop)


def checked_request(asked: Any) -> Asked:
    """A request that came from elsewhere, checked; raises `BadInput`."""
    if not is_a(asked, Asked):
        raise BadInput("{value} is no request for models.", value=shown(asked))
    return asked.checked()


def checked_choice(choice: Any) -> PairChoice:
    """A choice that came from elsewhere, checked as a visitor's; raises `BadInput`."""
    if not is_a(choice, PairChoice):
        raise BadInput("{value} names no pair of models.", value=shown(choice))
    return pair_choice(choice.key, choice.target, choice.draft)


def _checked_work(work: Any) -> Work[Any]:
    if not is_a(work, Work):
        raise BadInput("{value} is no work for models.", value=shown(work))
    return work.checked()
