"""From a measurement that grows to what the screen shows: a status line, and the values of a section's parts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from specdec.settings import Settings
from specdec.timing.comparison import Comparison, Sweep
from visualizations.components.chart import chart_value
from visualizations.components.folding import folded_value
from visualizations.components.measuring import Shown, Words, growing_steps, measured_steps, measured_with
from visualizations.components.status_line import status
from visualizations.figures.pass_cost import pass_time, throughput
from visualizations.figures.roofline import roofline_figure
from visualizations.figures.time_spent import time_spent
from visualizations.is_it_faster import works
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
from visualizations.serving.backend import Backend
from visualizations.serving.inputs import PairChoice
from visualizations.text import t

if TYPE_CHECKING:  # importing these costs torch
    from specdec.timing.race import Race

RACE_SECONDS = 0.1  # between two drawings of a live race


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


def machine_values(machine: works.Machine, gamma: int) -> tuple[dict[str, Any], ...]:
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
    shelf: Backend, stop: threading.Event, choice: PairChoice, prompt: str, settings: Settings
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
    return measured_steps(shelf.alone(choice, works.RunRace(prompt, settings), stop), stop, words, every=RACE_SECONDS)


def comparison_steps(
    shelf: Backend,
    stop: threading.Event,
    choice: PairChoice,
    settings: Settings,
    prompts: tuple[str, ...],
    repeats: int,
    with_transformers: bool,
) -> Iterator[Shown]:
    """A comparison of plain decoding and one draft length, after every prompt of every repeat."""

    work = works.Compare(prompts, settings, repeats, with_transformers)
    events = shelf.alone(choice, work, stop)
    return growing_steps(events, stop, lambda record: comparison_values(record, record.way(f"gamma{settings.gamma}")))


def machine_steps(shelf: Backend, stop: threading.Event, choice: PairChoice, gamma: int) -> Iterator[Shown]:
    """Costs of passes, then the roofline."""

    events = shelf.alone(choice, works.MeasureMachine(gamma), stop)
    return growing_steps(events, stop, lambda record: machine_values(record, gamma))


def sweep_steps(
    shelf: Backend,
    stop: threading.Event,
    choice: PairChoice,
    settings: Settings,
    prompts: tuple[str, ...],
    repeats: int,
) -> Iterator[Shown]:
    """Plain decoding and several draft lengths."""

    work = works.MeasureSweep(prompts, settings, repeats)
    return growing_steps(shelf.alone(choice, work, stop), stop, sweep_values, counted=lambda sweep: sweep.comparison)
