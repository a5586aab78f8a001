"""Tab 3, "Is it faster?": the race, the fair measurement, where the time goes, why it is possible, how long to draft."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import gradio as gr

from visualizations.components.chart import Chart
from visualizations.components.contents import Contents
from visualizations.components.folding import folded
from visualizations.components.keeping import keep
from visualizations.components.measuring import Shown
from visualizations.components.report import Report
from visualizations.components.sections import (
    Measurement,
    Section,
    connect_sections,
    prompt_heading,
    section_buttons,
    section_heading,
    section_line,
)
from visualizations.components.status_line import status
from visualizations.is_it_faster.form import RunsPart, build_runs_part, build_settings_part, read_runs, read_settings
from visualizations.is_it_faster.live import (
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
from visualizations.is_it_faster.what_if import WhatIfView
from visualizations.is_it_faster.works import Machine
from visualizations.serving.backend import Backend
from visualizations.serving.inputs import checked_prompt
from visualizations.text import kept_as_spoken, section, t

TAB_KEY = "is-it-faster"
RECORDED_WAY = "gamma4"
LATEX = [{"left": "$", "right": "$", "display": False}]

# A race that left the queue no longer runs.
_RACE_OVER = "(race) => ({...race, running: false})"


def build_is_it_faster(page: gr.Blocks, shelf: Backend) -> None:
    """Create the tab inside the open `page`."""
    gr.Markdown(t("faster.intro"))
    with gr.Accordion(t("faster.settings"), open=False, elem_id="timing-settings"):
        settings = build_settings_part()
    Contents(TAB_KEY, list(section("faster.contents").items()))
    race, prompt = _race_section()
    compared, repeated = _measure_section()
    machine = _machine_section()
    sweep = _sweep_section()
    shared = list(settings.components)
    everything = shared + list(repeated.components)
    measurements = (
        Measurement(partial(_race, shelf), [prompt, *shared]),
        Measurement(partial(_compare, shelf), everything),
        Measurement(partial(_machine, shelf), shared),
        Measurement(partial(_sweep, shelf), everything),
    )
    sections = (race, compared, machine, sweep)
    connect_sections(page, sections, measurements, _recorded_values, [(race.parts[1], _RACE_OVER)])
    keep(page, "measurement", [prompt, *everything])


def _race_section() -> tuple[Section, gr.Textbox]:
    with folded("the-race", t("faster.race.title"), open=True) as head:
        prompt, button, stop = prompt_heading(t("faster.race.intro"), t("faster.race.prompt"), t("faster.race.button"), "race")
        line = section_line("race")
        view = RaceView(elem_id="race-view")
    return Section(button, stop, line, (head, view)), prompt


def _measure_section() -> tuple[Section, RunsPart]:
    with folded("measured-fairly", t("faster.measure.title")) as head:
        gr.Markdown(t("faster.measure.intro"))
        with gr.Row():
            with gr.Column(scale=6, min_width=280):
                runs = build_runs_part()
            button, stop = section_buttons(t("faster.measure.button"), "measure")
        line = section_line("measure")
        report = Report(name=t("faster.measure.name"), elem_id="measure-report")
    with folded("time-spent", t("faster.time.title")) as time_head:
        gr.Markdown(t("faster.time.intro"), latex_delimiters=LATEX)
        chart = Chart(name=t("faster.time.name"), empty=t("faster.time.empty"), elem_id="time-chart")
        formula = Report(name=t("faster.time.title"), elem_id="formula-report")
    return Section(button, stop, line, (head, report, time_head, chart, formula)), runs


def _machine_section() -> Section:
    with folded("why-possible", t("faster.why.title")) as head:
        button, stop = section_heading(t("faster.why.intro"), t("faster.why.button"), "machine")
        line = section_line("machine")
        charts = []
        with gr.Row():
            for name in ("pass", "rate"):
                with gr.Column(min_width=320):
                    charts.append(Chart(name=t(f"faster.why.{name}_name"), empty=t("faster.why.empty"), elem_id=f"{name}-chart"))
        roofline = Chart(name=t("faster.why.roofline_name"), empty=t("faster.why.empty"), elem_id="roofline-chart")
        gr.Markdown(t("faster.why.prefill_decode"))
    return Section(button, stop, line, (head, *charts, roofline))


def _sweep_section() -> Section:
    with folded("draft-length", t("faster.sweep.heading")) as head:
        button, stop = section_heading(t("faster.sweep.intro"), t("faster.sweep.button"), "sweep")
        line = section_line("sweep")
        view = WhatIfView(elem_id="sweep-view")
    return Section(button, stop, line, (head, view))


def _race(shelf: Backend, stop: threading.Event, prompt: Any, *values: Any) -> Iterator[Shown]:
    choice, settings = read_settings(values)
    return race_steps(shelf, stop, choice, checked_prompt(prompt), settings)


def _compare(shelf: Backend, stop: threading.Event, *values: Any) -> Iterator[Shown]:
    choice, settings, runs = *read_settings(values[:-3]), read_runs(values[-3:])
    return comparison_steps(shelf, stop, choice, settings, runs.prompts, runs.repeats, runs.with_transformers)


def _machine(shelf: Backend, stop: threading.Event, *values: Any) -> Iterator[Shown]:
    choice, settings = read_settings(values)
    return machine_steps(shelf, stop, choice, settings.gamma)


def _sweep(shelf: Backend, stop: threading.Event, *values: Any) -> Iterator[Shown]:
    choice, settings, runs = *read_settings(values[:-3]), read_runs(values[-3:])
    return sweep_steps(shelf, stop, choice, settings, runs.prompts, runs.repeats)


@kept_as_spoken
def _recorded_values() -> list[Any]:
    """The lines and parts of all sections, from the recorded measurements."""
    kept = recorded()
    way = kept.comparison.way(RECORDED_WAY)
    gamma = kept.comparison.ways[way].settings.gamma
    line = status(t("measuring.recorded"))
    sections = (
        race_values(kept.race),
        comparison_values(kept.comparison, way),
        machine_values(Machine(kept.costs, kept.roofline), gamma),
        sweep_values(kept.sweep),
    )
    return [value for values in sections for value in (line, *values)]
