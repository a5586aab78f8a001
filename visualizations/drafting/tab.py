"""Tab 4, "Drafting": how long, what acceptance depends on, which draft, and what is left of it on a shared machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import gradio as gr

from specdec.settings import BadInput
from visualizations.components.chart import Chart
from visualizations.components.contents import Contents
from visualizations.components.folding import Folded, folded, folded_value
from visualizations.components.keeping import keep
from visualizations.components.measuring import Shown
from visualizations.components.model_events import AT_ONCE
from visualizations.components.report import Report
from visualizations.components.sections import (
    Measurement,
    Section,
    connect_sections,
    prompt_heading,
    section_heading,
    section_line,
)
from visualizations.components.status_line import status
from visualizations.drafting.columns import ColumnsView
from visualizations.drafting.form import build_form, read_form
from visualizations.drafting.live import (
    costs_steps,
    costs_values,
    dependence_steps,
    dependence_values,
    drafters_steps,
    drafters_values,
    policies_steps,
    policies_values,
)
from visualizations.drafting.records import recorded
from visualizations.drafting.results import worst_result
from visualizations.drafting.shared import SharedView
from visualizations.drafting.threshold import ThresholdView
from visualizations.drafting.works import Policies
from visualizations.drafting.worst import WorstPlaces, worst_value
from visualizations.serving.backend import Backend
from visualizations.serving.engine_imports import import_engine
from visualizations.serving.inputs import checked_prompt
from visualizations.step_through.kept_run import trace_on_screen
from visualizations.step_through.tab import RunOnScreen
from visualizations.text import kept_as_spoken, say, section, t

TAB_KEY = "drafting"
RECORDED_WAY = "model_fixed_2"  # whose acceptance rate the last figure begins with
CHARTS = ("place", "draft_entropy", "target_entropy", "kind")


def build_drafting(page: gr.Blocks, tab: gr.Tab, shelf: Backend, run: RunOnScreen) -> WorstPlaces:
    """Create the tab inside the open `tab` of `page`. run: what the first tab shows; a click on one of its worst
    places, which this returns, is to lead there."""
    gr.Markdown(t("drafting.intro"))
    with gr.Accordion(t("drafting.settings"), open=False, elem_id="drafting-settings"):
        form = list(build_form())
    Contents(TAB_KEY, list(section("drafting.contents").items()))
    lengths, prompt = _lengths_section()
    acceptance = _acceptance_section()
    worst_head, worst = _worst_section()
    drafters = _drafters_section()
    shared = _shared_section()
    measurements = (
        Measurement(partial(_policies, shelf), [prompt, *form]),
        Measurement(partial(_dependence, shelf), form),
        Measurement(partial(_drafters, shelf), form),
        Measurement(partial(_costs, shelf), form),
    )
    connect_sections(page, (lengths, acceptance, drafters, shared), measurements, _recorded_values)
    tab.select(_worst, run.trace, [worst_head, worst], **AT_ONCE)
    keep(page, "drafting", [prompt, *form])
    return worst


def _lengths_section() -> tuple[Section, gr.Textbox]:
    with folded("how-long", t("drafting.lengths.title"), open=True) as head:
        prompt, button, stop = prompt_heading(
            t("drafting.lengths.intro"), t("drafting.lengths.prompt"), t("drafting.measure"), "lengths"
        )
        line = section_line("lengths")
        columns = ColumnsView(elem_id="columns-view")
        report = Report(name=t("drafting.lengths.name"), elem_id="lengths-report")
    with folded("what-threshold", t("drafting.threshold.title")) as threshold_head:
        threshold = ThresholdView(elem_id="threshold-view")
    return Section(button, stop, line, (head, columns, report, threshold_head, threshold)), prompt


def _acceptance_section() -> Section:
    with folded("acceptance-by", t("drafting.acceptance.title")) as head:
        button, stop = section_heading(t("drafting.acceptance.intro"), t("drafting.measure"), "acceptance")
        line = section_line("acceptance")
        charts = []
        for pair in (CHARTS[:2], CHARTS[2:]):
            with gr.Row():
                for name in pair:
                    with gr.Column(min_width=320):
                        gr.Markdown(f"### {t(f'drafting.acceptance.{name}_title')}")
                        title = t(f"drafting.acceptance.{name}_name")
                        charts.append(Chart(name=title, empty=t("drafting.empty"), elem_id=f"{name.replace('_', '-')}-chart"))
    return Section(button, stop, line, (head, *charts))


def _worst_section() -> tuple[Folded, WorstPlaces]:
    with folded("worst", t("drafting.worst.title")) as head:
        gr.Markdown(t("drafting.worst.intro"))
        places = WorstPlaces(elem_id="worst-places")
    return head, places


def _drafters_section() -> Section:
    with folded("which-draft", t("drafting.drafters.title")) as head:
        button, stop = section_heading(t("drafting.drafters.intro"), t("drafting.measure"), "drafters")
        line = section_line("drafters")
        chart = Chart(name=t("drafting.drafters.name"), empty=t("drafting.empty"), elem_id="drafters-chart")
        report = Report(name=t("drafting.drafters.title"), elem_id="drafters-report")
    return Section(button, stop, line, (head, chart, report))


def _shared_section() -> Section:
    with folded("shared-machine", t("drafting.shared.title")) as head:
        button, stop = section_heading(t("drafting.shared.intro"), t("drafting.shared.button"), "shared")
        line = section_line("shared")
        view = SharedView(elem_id="shared-view")
    return Section(button, stop, line, (head, view))


def _policies(shelf: Backend, stop: threading.Event, prompt: Any, *values: Any) -> Iterator[Shown]:
    return policies_steps(shelf, stop, read_form(values), checked_prompt(prompt))


def _dependence(shelf: Backend, stop: threading.Event, *values: Any) -> Iterator[Shown]:
    return dependence_steps(shelf, stop, read_form(values))


def _drafters(shelf: Backend, stop: threading.Event, *values: Any) -> Iterator[Shown]:
    return drafters_steps(shelf, stop, read_form(values))


def _costs(shelf: Backend, stop: threading.Event, *values: Any) -> Iterator[Shown]:
    return costs_steps(shelf, stop, read_form(values), _recorded_alpha())


def _worst(held: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    import_engine()
    try:
        value = worst_value(trace_on_screen(held))
    except BadInput as refusal:
        value = worst_value(None, say(refusal.phrase))
    return folded_value(worst_result(value["places"])), value


@kept_as_spoken
def _recorded_values() -> list[Any]:
    """The lines and parts of all sections, from the recorded measurements."""
    kept = recorded()
    line = status(t("measuring.recorded"))
    sections = (
        policies_values(Policies(kept.policy_runs, kept.policies.total, kept.policies)),
        dependence_values(kept.dependence),
        drafters_values(kept.drafters),
        costs_values(kept.costs, _recorded_alpha()),
    )
    return [value for values in sections for value in (line, *values)]


def _recorded_alpha() -> float:
    row = recorded().policies.row(recorded().policies.way(RECORDED_WAY))
    return (row.acceptance_rate if row else None) or 0.5
