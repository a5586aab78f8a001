"""What the tab measures, each a work for a machine of its own, which yields a record as it grows.

Their imports are inside, because they cost torch: the page opens without.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specdec.settings import MAX_GAMMA, Settings, whole_number
from specdec.timing.comparison import Comparison, Sweep
from specdec.timing.records import Costs
from visualizations.is_it_faster.form import MOST_REPEATS
from visualizations.serving.backend import Work
from visualizations.serving.inputs import checked_flag, checked_prompt, checked_settings

if TYPE_CHECKING:  # importing these costs torch
    from specdec.models.pairs import Pair
    from specdec.timing.race import Race
    from specdec.timing.roofline import Roofline

WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 32, 48, 64)
SWEEP_GAMMAS = (1, 2, 3, 4, 6, 8)
COST_REPEATS, ROOFLINE_REPEATS = 5, 3


@dataclass(frozen=True)
class Machine:
    """What a device can do: the costs of passes, then the roofline."""

    costs: Costs
    roofline: Roofline | None = None

    @property
    def done(self) -> int:
        return self.costs.done + (self.roofline.done if self.roofline else 0)

    @property
    def total(self) -> int:
        return COST_REPEATS + ROOFLINE_REPEATS


@dataclass(frozen=True)
class RunRace(Work["Iterator[Race]"]):
    """Plain against speculative decoding of one prompt."""

    prompt: str
    settings: Settings

    def __call__(self, pair: Pair) -> Iterator[Race]:
        from specdec.timing.race import race

        return race(pair, self.prompt, self.settings)

    def checked(self) -> RunRace:
        return RunRace(checked_prompt(self.prompt), checked_settings(self.settings))

    @property
    def tokens(self) -> int:
        return 2 * self.settings.max_new_tokens


@dataclass(frozen=True)
class Compare(Work[Iterator[Comparison]]):
    """Plain decoding and one draft length by turns."""

    prompts: tuple[str, ...]
    settings: Settings
    repeats: int
    with_transformers: bool

    def __call__(self, pair: Pair) -> Iterator[Comparison]:
        from specdec.timing.compare import compare

        return compare(
            pair, self.prompts, self.settings, repeats=self.repeats, with_transformers=self.with_transformers
        )

    def checked(self) -> Compare:
        return Compare(
            tuple(checked_prompt(prompt) for prompt in self.prompts),
            checked_settings(self.settings),
            whole_number("repeats", self.repeats, 1, MOST_REPEATS),
            checked_flag("with_transformers", self.with_transformers),
        )

    @property
    def tokens(self) -> int:
        ways = 4 if self.with_transformers else 2
        return ways * len(self.prompts) * self.repeats * self.settings.max_new_tokens


@dataclass(frozen=True)
class MeasureMachine(Work[Iterator[Machine]]):
    """Costs of passes, then the roofline."""

    gamma: int

    def __call__(self, pair: Pair) -> Iterator[Machine]:
        from specdec.timing.costs import measure_costs
        from specdec.timing.roofline import measure_roofline

        machine = None
        for costs in measure_costs(pair, repeats=COST_REPEATS, widths=self._widths, prefills=()):
            machine = Machine(costs)
            yield machine
        for roofline in measure_roofline(pair, repeats=ROOFLINE_REPEATS):
            yield replace(machine, roofline=roofline)

    def checked(self) -> MeasureMachine:
        return MeasureMachine(whole_number("gamma", self.gamma, 1, MAX_GAMMA))

    @property
    def tokens(self) -> int:
        return COST_REPEATS * len(self._widths)  # a pass takes about as long as a token

    @property
    def _widths(self) -> list[int]:
        return sorted({*WIDTHS, self.gamma + 1})


@dataclass(frozen=True)
class MeasureSweep(Work[Iterator[Sweep]]):
    """Plain decoding and several draft lengths."""

    prompts: tuple[str, ...]
    settings: Settings
    repeats: int

    def __call__(self, pair: Pair) -> Iterator[Sweep]:
        from specdec.timing.compare import sweep

        return sweep(pair, self.prompts, self.settings, gammas=SWEEP_GAMMAS, repeats=self.repeats)

    def checked(self) -> MeasureSweep:
        return MeasureSweep(
            tuple(checked_prompt(prompt) for prompt in self.prompts),
            checked_settings(self.settings),
            whole_number("repeats", self.repeats, 1, MOST_REPEATS),
        )

    @property
    def tokens(self) -> int:
        return (1 + len(SWEEP_GAMMAS)) * len(self.prompts) * self.repeats * self.settings.max_new_tokens
