"""What a visitor may ask this tab to measure, as works that can be sent to whoever has the models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specdec.settings import POLICIES, Settings, choice, whole_number
from specdec.timing.prompts import OWN_KINDS
from specdec.timing.records import Costs
from visualizations.drafting import works
from visualizations.drafting.form import MOST_REPEATS
from visualizations.serving.backend import Work
from visualizations.serving.inputs import checked_prompt, checked_settings

if TYPE_CHECKING:  # importing these costs torch
    from specdec.exactness.dependence import Dependence
    from specdec.models.pairs import Pair
    from specdec.timing.drafters import Drafters

DRAFTER_WAYS = 4  # plain decoding and three drafters, at most


@dataclass(frozen=True)
class MeasurePolicies(Work[Iterator[works.Policies]]):
    """One prompt under every policy, then by turns against plain decoding."""

    prompt: str
    settings: Settings
    repeats: int

    def __call__(self, pair: Pair) -> Iterator[works.Policies]:
        return works.policies(pair, self.prompt, self.settings, self.repeats)

    def checked(self) -> MeasurePolicies:
        return MeasurePolicies(checked_prompt(self.prompt), checked_settings(self.settings), _repeats(self.repeats))

    @property
    def tokens(self) -> int:
        ways = 1 + len(works.FIXED) + len(POLICIES)
        return (len(POLICIES) + ways * self.repeats) * self.settings.max_new_tokens


@dataclass(frozen=True)
class MeasureDependence(Work["Iterator[Dependence]"]):
    """Every tested draft of a run of each prompt. It looks at no clock."""

    prompts: tuple[str, ...]
    kinds: tuple[str, ...]
    settings: Settings

    def __call__(self, pair: Pair) -> Iterator[Dependence]:
        return works.dependence(pair, self.prompts, self.kinds, self.settings)

    def checked(self) -> MeasureDependence:
        kinds = tuple(choice("prompts", kind, OWN_KINDS) for kind in self.kinds)
        return MeasureDependence(_prompts(self.prompts), kinds, checked_settings(self.settings))

    @property
    def tokens(self) -> int:
        return len(self.prompts) * self.settings.max_new_tokens


@dataclass(frozen=True)
class MeasureDrafters(Work["Iterator[Drafters]"]):
    """Every drafter on the same prompts."""

    prompts: tuple[str, ...]
    settings: Settings
    repeats: int

    def __call__(self, pair: Pair) -> Iterator[Drafters]:
        return works.drafters(pair, self.prompts, self.settings, self.repeats)

    def checked(self) -> MeasureDrafters:
        return MeasureDrafters(_prompts(self.prompts), checked_settings(self.settings), _repeats(self.repeats))

    @property
    def tokens(self) -> int:
        return DRAFTER_WAYS * len(self.prompts) * self.repeats * self.settings.max_new_tokens


@dataclass(frozen=True)
class MeasureCosts(Work[Iterator[Costs]]):
    """Passes over 1 to the most tokens."""

    repeats: int

    def __call__(self, pair: Pair) -> Iterator[Costs]:
        return works.costs(pair, self.repeats)

    def checked(self) -> MeasureCosts:
        return MeasureCosts(_repeats(self.repeats))

    @property
    def tokens(self) -> int:
        return self.repeats * len(works.WIDTHS)  # a pass takes about as long as a token


def _prompts(prompts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(checked_prompt(prompt) for prompt in prompts)


def _repeats(repeats: int) -> int:
    return whole_number("repeats", repeats, 1, MOST_REPEATS)
