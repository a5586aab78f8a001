"""From a measurement that grows to what the screen shows: a status line, and the values of a section's parts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from specdec.settings import Settings
from specdec.timing.comparison import Comparison, Sweep
from specdec.timing.records import Costs
from visualizations.components.chart import chart_value
from visualizations.components.folding import folded_value
from visualizations.components.measuring import Shown, Words, growing_steps, measured_steps, measured_with
from visualizations.components.status_line import status
from visualizations.figures.pass_cost import pass_time, throughput
from visualizations.figures.roofline import roofline_figure
from visualizations.figures.time_spent import time_spent
from visualizations.is_it_faster.captions import (
    pass_caption,
    rate_caption,
    roofline_caption,
    sweep_caption,
    time_caption,
)
from visualizations.is_it_faster.race import race_value
from visualizations.is_it_faster.results import comparison_result, passes_result, race_result, sweep_result, time_result
from visualizations.is_it_faster.what_if import what_if_value
from visualizations.is_it_faster.words import comparison_report, formula_report
from visualizations.serving.inputs import PairChoice
from visualizations.serving.runner import ModelShelf
from visualizations.text import t

if TYPE_CHECKING:  # importing these costs torch
    from specdec.timing.race import Race
    from specdec.timing.roofline import Roofline

WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 32, 48, 64)
SWEEP_GAMMAS = (1, 2, 3, 4, 6, 8)
COST_REPEATS, ROOFLINE_REPEATS = 5, 3
RACE_SECONDS = 0.1  # between two drawings of a live race


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


def race_values(race: Race, running: bool = False) -> tuple[dict[str, Any], ...]:
    """Of the section's head and the race's view."""
    return folded_value("" if running else race_result(race)), race_value(race, running)


def comparison_values(comparison: Comparison, way: int) -> tuple[dict[str, Any], ...]:
    """Of a head and the report; of the next head, the chart of seconds and the formula. way: index of the speculative
    way."""
    where = measured_with(comparison)
    chart = chart_value(time_spent(comparison, way), time_caption(comparison, way))
    return (
        folded_value(comparison_result(comparison, way), where),
        comparison_report(comparison, way),
        folded_value(time_result(comparison, way), where),
        chart,
        formula_report(comparison, way),
    )


def machine_values(machine: Machine, gamma: int) -> tuple[dict[str, Any], ...]:
    """Of the head and the charts of pass time, throughput and the roofline."""
    costs, roof = machine.costs, machine.roofline
    return (
        folded_value(passes_result(costs, gamma), measured_with(costs, roof)),
        chart_value(pass_time(costs, gamma), pass_caption(costs, gamma)),
        chart_value(throughput(costs, gamma), rate_caption(costs, gamma)),
        chart_value(roofline_figure(roof, gamma), roofline_caption(roof, gamma)) if roof else chart_value(None),
    )


def sweep_values(sweep: Sweep) -> tuple[dict[str, Any], ...]:
    """Of the head and the view of the sweep."""
    return folded_value(sweep_result(sweep), measured_with(sweep.comparison)), what_if_value(sweep, sweep_caption(sweep))


def race_steps(
    shelf: ModelShelf, stop: threading.Event, choice: PairChoice, prompt: str, settings: Settings
) -> Iterator[Shown]:
    """The race while it runs, drawn a few times a second, and at its end."""

    def show(race: Race) -> Shown:
        lane = race.speculative if race.speculative.blocks else race.plain
        name = t(f"faster.race.{'speculative' if lane is race.speculative else 'plain'}", gamma=lane.gamma)
        limit = settings.max_new_tokens
        line = t("faster.race.lane_running", lane=name, done=lane.tokens, limit=limit)
        share = (race.plain.tokens + race.speculative.tokens) / (2 * limit)
        return Shown(status(line, "busy", share), race_values(race, running=True))

    def ended(key: str) -> Callable[[Race], Shown]:
        return lambda race: Shown(status(t(key), "done"), race_values(race))

    words = Words(show, finish=ended("faster.race.finished"), halt=ended("measuring.stopped"))
    return measured_steps(shelf, stop, choice, partial(_race, prompt=prompt, settings=settings), words, every=RACE_SECONDS)


def comparison_steps(
    shelf: ModelShelf,
    stop: threading.Event,
    choice: PairChoice,
    settings: Settings,
    prompts: tuple[str, ...],
    repeats: int,
    with_transformers: bool,
) -> Iterator[Shown]:
    """A comparison of plain decoding and one draft length, after every prompt of every repeat."""

    work = partial(_compare, prompts=prompts, settings=settings, repeats=repeats, with_transformers=with_transformers)
    return growing_steps(shelf, stop, choice, work, lambda record: comparison_values(record, record.way(f"gamma{settings.gamma}")))


def machine_steps(shelf: ModelShelf, stop: threading.Event, choice: PairChoice, gamma: int) -> Iterator[Shown]:
    """Costs of passes, then the roofline."""

    return growing_steps(shelf, stop, choice, partial(_machine, gamma=gamma), lambda record: machine_values(record, gamma))


def sweep_steps(
    shelf: ModelShelf,
    stop: threading.Event,
    choice: PairChoice,
    settings: Settings,
    prompts: tuple[str, ...],
    repeats: int,
) -> Iterator[Shown]:
    """Plain decoding and several draft lengths."""

    work = partial(_sweep, prompts=prompts, settings=settings, repeats=repeats)
    return growing_steps(shelf, stop, choice, work, sweep_values, counted=lambda sweep: sweep.comparison)


# What is done with a pair: functions of this module, so that a borrowed GPU's process can be told which. Their
# imports are inside, because they cost torch: the page opens without.


def _race(pair: Any, prompt: str, settings: Settings) -> Iterator[Race]:
    from specdec.timing.race import race

    return race(pair, prompt, settings)


def _compare(
    pair: Any, prompts: tuple[str, ...], settings: Settings, repeats: int, with_transformers: bool
) -> Iterator[Comparison]:
    from specdec.timing.compare import compare

    return compare(pair, prompts, settings, repeats=repeats, with_transformers=with_transformers)


def _machine(pair: Any, gamma: int) -> Iterator[Machine]:
    from specdec.timing.costs import measure_costs
    from specdec.timing.roofline import measure_roofline

    widths = sorted({*WIDTHS, gamma + 1})
    machine = None
    for costs in measure_costs(pair, repeats=COST_REPEATS, widths=widths, prefills=()):
        machine = Machine(costs)
        yield machine
    for roofline in measure_roofline(pair, repeats=ROOFLINE_REPEATS):
        yield replace(machine, roofline=roofline)


def _sweep(pair: Any, prompts: tuple[str, ...], settings: Settings, repeats: int) -> Iterator[Sweep]:
    from specdec.timing.compare import sweep

    return sweep(pair, prompts, settings, gammas=SWEEP_GAMMAS, repeats=repeats)
