"""A section of a tab that measures: its button, its Stop, its line, and the parts that a measurement fills."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component
from gradio.events import Dependency

from specdec.settings import BadInput
from specdec.timing.prompts import own_prompts
from visualizations.components.keeping import recall_script, remember_script
from visualizations.components.measuring import Shown
from visualizations.components.model_events import AT_ONCE, QUIET, ask_on, on_ask
from visualizations.components.status_line import StatusLine, status
from visualizations.serving.stopping import OpenRuns
from visualizations.text import say, t

# An event that leaves the queue sends nothing, so the page itself notes that it is over.
_STOP = "(...lines) => lines.map((line) => line.mood === 'busy' ? {text: %s, mood: 'done', done: null} : line)"


@dataclass(frozen=True)
class Section:
    """A button, its Stop, its line, and what it fills."""

    button: gr.Button
    stop: gr.Button
    line: StatusLine
    parts: tuple[Component, ...]


@dataclass(frozen=True)
class Measurement:
    """What a section's button does: `steps(stop, *values)` with the raw values of `inputs`."""

    steps: Callable[..., Iterator[Shown]]
    inputs: Sequence[Component]


def section_buttons(label: str, name: str) -> tuple[gr.Button, gr.Button]:
    """The button that measures and the one that stops it, in a column of their own."""
    with gr.Column(scale=1, min_width=180):
        button = gr.Button(label, variant="primary", elem_id=f"{name}-run")
        return button, gr.Button(t("measuring.stop"), elem_id=f"{name}-stop")


def section_heading(words: str, button: str, name: str) -> tuple[gr.Button, gr.Button]:
    """The first words of a section and its buttons beside them."""
    with gr.Row():
        with gr.Column(scale=6, min_width=280):
            gr.Markdown(words)
        return section_buttons(button, name)


def prompt_heading(words: str, label: str, button: str, name: str) -> tuple[gr.Textbox, gr.Button, gr.Button]:
    """The first words of a section that measures one prompt, the prompt's box and the buttons beside it."""
    gr.Markdown(words)
    with gr.Row():
        prompt = gr.Textbox(
            own_prompts()[0], label=label, lines=2, max_lines=6, interactive=True, scale=6, elem_id=f"{name}-prompt"
        )
        return prompt, *section_buttons(button, name)


def section_line(name: str) -> StatusLine:
    """The line of a section until its recorded measurement is there."""
    return StatusLine(status(t("measuring.reading"), "quiet"), elem_id=f"{name}-line")


def connect_sections(
    page: gr.Blocks,
    sections: Sequence[Section],
    measurements: Sequence[Measurement],
    recorded: Callable[[], list[Any]],
    when_stopped: Sequence[tuple[Component, str]] = (),
) -> None:
    """Let each section measure, stop, outlive a reload, and open with `recorded()`: the values of every line and its
    parts, section by section. when_stopped: components with a JavaScript function of what they show after a Stop."""
    all_runs = [OpenRuns() for _ in sections]
    events = [_on(section, runs, asked) for section, runs, asked in zip(sections, all_runs, measurements, strict=True)]
    for runs in all_runs:
        runs.stop_when_left(page)

    def halt(request: gr.Request) -> None:
        for runs in all_runs:
            runs.stop(request.session_hash)

    lines = [section.line for section in sections]
    said = _STOP % json.dumps(t("measuring.stopped"))
    for section in sections:  # a run comes to its own end first; then one that only waits leaves the queue
        halted = section.stop.click(halt, **AT_ONCE)
        halted.then(None, lines, lines, js=said, cancels=events, **QUIET)
        for component, script in when_stopped:
            halted.then(None, component, component, js=script, **QUIET)
    filled = page.load(recorded, None, [part for section in sections for part in (section.line, *section.parts)], **AT_ONCE)
    for section, event in zip(sections, events, strict=True):
        _keep_result(section, event, filled)


def _on(section: Section, runs: OpenRuns, asked: Measurement) -> Dependency:
    """The event of a section's button."""

    def work(stop: threading.Event, *values: Any) -> Iterator[tuple[Any, ...]]:
        kept = (gr.skip(),) * len(section.parts)
        try:
            for shown in asked.steps(stop, *values):
                yield shown.line, *(kept if shown.values is None else shown.values)
        except BadInput as refusal:
            yield status(say(refusal.phrase), "fault"), *kept

    ask_on([section.button.click], section.line)
    return on_ask(section.line, runs, work, asked.inputs, [section.line, *section.parts])


def _keep_result(section: Section, event: Dependency, filled: Dependency) -> None:
    """A measurement that is over outlives a reload. filled: puts the recorded one on screen."""
    name, result = section.line.elem_id, [section.line, *section.parts]
    section.line.ask(None, None, None, js=remember_script(name, "null"), **QUIET)
    event.then(None, result, None, js=remember_script(name, "values[0].mood === 'busy' ? null : values"), **QUIET)
    filled.then(None, None, result, js=recall_script(name, len(result)), **QUIET)
