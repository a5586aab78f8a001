"""Tab 3, "Is it faster?": the race, the fair measurement, where the time goes, why it is possible, how long to draft."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import gradio as gr
from gradio.components import Component
from gradio.events import Dependency

from specdec.settings import BadInput
from specdec.timing.prompts import own_prompts
from visualizations.components.chart import Chart
from visualizations.components.keeping import keep, recall_script, remember_script
from visualizations.components.model_events import AT_ONCE, QUIET, ask_on, on_ask
from visualizations.components.status_line import StatusLine, status
from visualizations.is_it_faster.form import RunsPart, build_runs_part, build_settings_part, read_runs, read_settings
from visualizations.is_it_faster.live import (
    Machine,
    Shown,
    comparison_steps,
    comparison_values,
    machine_steps,
    machine_values,
    race_steps,
    race_values,
    sweep_steps,
    sweep_values,
)
from visualizations.is_it_faster.race import RaceView
from visualizations.is_it_faster.records import recorded
from visualizations.is_it_faster.report import Report
from visualizations.is_it_faster.what_if import WhatIfView
from visualizations.serving.inputs import checked_prompt
from visualizations.serving.runner import ModelShelf
from visualizations.serving.stopping import OpenRuns
from visualizations.text import t

RECORDED_WAY = "gamma4"
LATEX = [{"left": "$", "right": "$", "display": False}]

# An event that leaves the queue sends nothing, so the page itself notes that it is over.
_STOP = """(race, ...lines) => [
  {...race, running: false},
  ...lines.map((line) => line.mood === 'busy' ? {text: %s, mood: 'done', done: null} : line)]"""


@dataclass(frozen=True)
class Section:
    """A button, its Stop, its line, and what it fills."""

    button: gr.Button
    stop: gr.Button
    line: StatusLine
    parts: tuple[Component, ...]


def build_is_it_faster(page: gr.Blocks, shelf: ModelShelf) -> None:
    """Create the tab inside the open `page`."""
    gr.Markdown(t("faster.intro"))
    with gr.Accordion(t("faster.settings"), open=False, elem_id="timing-settings"):
        settings = build_settings_part()
    race, prompt = _race_section()
    compared, repeated = _measure_section()
    machine = _machine_section()
    sweep = _sweep_section()
    sections = (race, compared, machine, sweep)

    shared = list(settings.components)
    everything = shared + list(repeated.components)
    open_runs = [OpenRuns() for _ in sections]
    wanted = (
        (partial(_race, shelf), [prompt, *shared]),
        (partial(_compare, shelf), everything),
        (partial(_machine, shelf), shared),
        (partial(_sweep, shelf), everything),
    )
    events = [
        _on(section, runs, steps, inputs)
        for section, runs, (steps, inputs) in zip(sections, open_runs, wanted, strict=True)
    ]
    for runs in open_runs:
        runs.stop_when_left(page)

    def halt(request: gr.Request) -> None:
        for runs in open_runs:
            runs.stop(request.session_hash)

    noted = [race.parts[0], *(section.line for section in sections)]
    note: dict[str, Any] = dict(fn=None, inputs=noted, outputs=noted, js=_STOP % json.dumps(t("faster.stopped")), **QUIET)
    for section in sections:  # a run comes to its own end first; then one that only waits leaves the queue
        halted = section.stop.click(halt, **AT_ONCE)
        halted.then(**note, cancels=events)
    shown = [part for section in sections for part in (section.line, *section.parts)]
    filled = page.load(_recorded_values, None, shown, **AT_ONCE)
    for section, event in zip(sections, events, strict=True):
        _keep_result(section, event, filled)
    keep(page, "measurement", [prompt, *everything])


def _race_section() -> tuple[Section, gr.Textbox]:
    gr.Markdown(f"## {t('faster.race.title')}\n{t('faster.race.intro')}")
    with gr.Row():
        prompt = gr.Textbox(
            own_prompts()[0], label=t("faster.race.prompt"), lines=2, max_lines=6, interactive=True, scale=6, elem_id="race-prompt"
        )
        button, stop = _buttons(t("faster.race.button"), "race")
    line = _line("race")
    return Section(button, stop, line, (RaceView(elem_id="race-view"),)), prompt


def _measure_section() -> tuple[Section, RunsPart]:
    gr.Markdown(f"## {t('faster.measure.title')}\n{t('faster.measure.intro')}")
    with gr.Row():
        with gr.Column(scale=6, min_width=280):
            runs = build_runs_part()
        button, stop = _buttons(t("faster.measure.button"), "measure")
    line = _line("measure")
    report = Report(name=t("faster.measure.name"), elem_id="measure-report")
    gr.Markdown(f"## {t('faster.time.title')}\n{t('faster.time.intro')}", latex_delimiters=LATEX)
    chart = Chart(name=t("faster.time.name"), empty=t("faster.time.empty"), elem_id="time-chart")
    formula = Report(name=t("faster.time.title"), elem_id="formula-report")
    return Section(button, stop, line, (report, chart, formula)), runs


def _machine_section() -> Section:
    with gr.Row():
        with gr.Column(scale=6, min_width=280):
            gr.Markdown(f"## {t('faster.why.title')}\n{t('faster.why.intro')}")
        button, stop = _buttons(t("faster.why.button"), "machine")
    line = _line("machine")
    charts = []
    with gr.Row():
        for name in ("pass", "rate"):
            with gr.Column(min_width=320):
                charts.append(Chart(name=t(f"faster.why.{name}_name"), empty=t("faster.why.empty"), elem_id=f"{name}-chart"))
    roofline = Chart(name=t("faster.why.roofline_name"), empty=t("faster.why.empty"), elem_id="roofline-chart")
    gr.Markdown(t("faster.why.prefill_decode"))
    return Section(button, stop, line, (*charts, roofline))


def _sweep_section() -> Section:
    with gr.Row():
        with gr.Column(scale=6, min_width=280):
            gr.Markdown(f"## {t('faster.sweep.heading')}\n{t('faster.sweep.intro')}")
        button, stop = _buttons(t("faster.sweep.button"), "sweep")
    line = _line("sweep")
    return Section(button, stop, line, (WhatIfView(elem_id="sweep-view"),))


def _buttons(label: str, name: str) -> tuple[gr.Button, gr.Button]:
    with gr.Column(scale=1, min_width=180):
        button = gr.Button(label, variant="primary", elem_id=f"{name}-run")
        return button, gr.Button(t("faster.stop"), elem_id=f"{name}-stop")


def _line(name: str) -> StatusLine:
    return StatusLine(status(t("faster.reading"), "quiet"), elem_id=f"{name}-line")


def _on(section: Section, runs: OpenRuns, steps: Callable[..., Iterator[Shown]], inputs: Sequence[Component]) -> Dependency:
    """The event of a section's button."""

    def work(stop: threading.Event, *values: Any) -> Iterator[tuple[Any, ...]]:
        kept = (gr.skip(),) * len(section.parts)
        try:
            for shown in steps(stop, *values):
                yield shown.line, *(kept if shown.values is None else shown.values)
        except BadInput as refusal:
            yield status(str(refusal), "fault"), *kept

    ask_on([section.button.click], section.line)
    return on_ask(section.line, runs, work, inputs, [section.line, *section.parts])


def _keep_result(section: Section, event: Dependency, filled: Dependency) -> None:
    """A measurement that is over outlives a reload. filled: puts the recorded one on screen."""
    name, result = section.line.elem_id, [section.line, *section.parts]
    section.line.ask(None, None, None, js=remember_script(name, "null"), **QUIET)
    event.then(None, result, None, js=remember_script(name, "values[0].mood === 'busy' ? null : values"), **QUIET)
    filled.then(None, None, result, js=recall_script(name, len(result)), **QUIET)


def _race(shelf: ModelShelf, stop: threading.Event, prompt: Any, *values: Any) -> Iterator[Shown]:
    choice, settings = read_settings(values)
    return race_steps(shelf, stop, choice, checked_prompt(prompt), settings)


def _compare(shelf: ModelShelf, stop: threading.Event, *values: Any) -> Iterator[Shown]:
    choice, settings, runs = *read_settings(values[:-3]), read_runs(values[-3:])
    return comparison_steps(shelf, stop, choice, settings, runs.prompts, runs.repeats, runs.with_transformers)


def _machine(shelf: ModelShelf, stop: threading.Event, *values: Any) -> Iterator[Shown]:
    choice, settings = read_settings(values)
    return machine_steps(shelf, stop, choice, settings.gamma)


def _sweep(shelf: ModelShelf, stop: threading.Event, *values: Any) -> Iterator[Shown]:
    choice, settings, runs = *read_settings(values[:-3]), read_runs(values[-3:])
    return sweep_steps(shelf, stop, choice, settings, runs.prompts, runs.repeats)


@lru_cache(maxsize=1)
def _recorded_values() -> list[Any]:
    """The lines and parts of all sections, from the recorded measurements."""
    kept = recorded()
    way = kept.comparison.way(RECORDED_WAY)
    gamma = kept.comparison.ways[way].settings.gamma
    line = status(t("faster.recorded"))
    sections = (
        race_values(kept.race),
        comparison_values(kept.comparison, way),
        machine_values(Machine(kept.costs, kept.roofline), gamma),
        sweep_values(kept.sweep),
    )
    return [value for values in sections for value in (line, *values)]
