"""Tab 1, "Step through": a prompt, its run by real models, and what happened at each token."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr

from specdec.settings import BadInput
from specdec.trace.trace import Trace
from visualizations.components.file_saver import FileSaver
from visualizations.components.settings_form import SettingsForm, build_settings_form, form_values, read_form
from visualizations.components.status_line import StatusLine, status
from visualizations.serving.inputs import checked_prompt
from visualizations.serving.runner import POLL_SECONDS, ModelShelf
from visualizations.serving.stopping import OpenRuns
from visualizations.step_through.examples import Example, examples, recorded_trace
from visualizations.step_through.live_run import loading_line, run_steps
from visualizations.step_through.run_view import RunView, ShownRun, run_view_value
from visualizations.text import t

MODEL_QUEUE: dict[str, Any] = {"concurrency_limit": 1, "concurrency_id": "model"}
STATE_SECONDS = 3600
DRAWING_SECONDS = 1.5
LEAVE = {"leave": True}
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

# What the page does itself: it answers a click on Run at once, and notes that a run leaves the queue, which
# happens without a word from the server.
_WAIT = "() => ({text: %s, mood: 'busy', done: null})"
_STOPPED = "(line) => line.mood === 'busy' ? {text: %s, mood: 'done', leave: true} : line"


@dataclass(frozen=True)
class RunOnScreen:
    """What other tabs may look at: the run's view, and the `ShownRun` in it (None until a first run is made)."""

    view: RunView
    run: gr.State


def shown_trace(run: ShownRun | None) -> Trace:
    """The trace on screen, also while it grows: the first example's while no other is there."""
    return recorded_trace(examples()[0]) if run is None else run.record.trace()


def build_step_through(page: gr.Blocks, shelf: ModelShelf) -> RunOnScreen:
    """Create the tab inside the open `page`."""
    first = examples()[0]
    with gr.Row(elem_classes="prompt-row"):
        prompt = gr.Textbox(
            first.prompt, label=t("app.prompt.label"), lines=2, max_lines=8, interactive=True, scale=6, elem_id="prompt"
        )
        with gr.Column(scale=1, min_width=140):
            run = gr.Button(t("app.run"), variant="primary", elem_id="run")
            stop = gr.Button(t("app.stop"), elem_id="stop")
    with gr.Row(elem_classes="example-row"):
        gr.Markdown(t("app.examples_label"), elem_classes="example-label")
        buttons = [
            (example, gr.Button(t(f"app.examples.{example.key}"), size="sm", min_width=90, elem_classes="example"))
            for example in examples()
        ]
    with gr.Accordion(t("app.settings"), open=False, elem_id="settings"):
        form = build_settings_form(first.settings)
    with gr.Row(elem_classes="status-row"):
        with gr.Column(scale=6, min_width=300, elem_classes="status-lines"):
            run_line = StatusLine(_recorded_line(first), elem_id="run-line")
            models_line = StatusLine(loading_line(None), elem_id="models-line")
        download = gr.Button(t("app.download"), size="sm", min_width=130, elem_id="download")
        upload = gr.UploadButton(
            t("app.upload"), size="sm", min_width=130, file_types=[".json"], type="binary", elem_id="upload"
        )
    view = RunView(run_view_value(recorded_trace(first)), elem_id="run-view")
    shown_run = gr.State(None, time_to_live=STATE_SECONDS)  # None: the first example, for every visitor
    saver = FileSaver()

    gr.on([run.click, prompt.submit], None, None, run_line, js=_WAIT % json.dumps(t("app.your_turn")), **QUIET)
    runs = OpenRuns()

    def start(request: gr.Request, asked: Any, *values: Any) -> Iterator[tuple[Any, ...]]:
        with runs.run(request.session_hash) as stopped:
            yield from _run(shelf, stopped, asked, values)

    def halt(request: gr.Request) -> None:
        runs.stop(request.session_hash)

    running = gr.on(
        [run.click, prompt.submit],
        start,
        [prompt, *form.components],
        [view, run_line, shown_run],
        preprocess=False,  # the raw values are checked in one place, with one kind of sentence
        show_progress="minimal",
        show_progress_on=run_line,
        api_visibility="private",
        **MODEL_QUEUE,
    )
    # First a run comes to its own end, so that its last word is last; then one that only waits leaves the queue.
    run_line.leave(None, cancels=[running], **QUIET)
    halted = stop.click(halt, queue=False, **QUIET)
    halted.then(None, run_line, run_line, js=_STOPPED % json.dumps(t("app.stopped")), **QUIET)
    shown = [view, run_line, shown_run, prompt, *form.components]
    for example, button in buttons:
        halted = button.click(halt, queue=False, **QUIET)
        halted.then(partial(_show_example, example), None, shown, queue=False, **QUIET)
    halted = upload.upload(halt, queue=False, **QUIET)
    halted.then(partial(_show_upload, form), upload, shown, queue=False, **QUIET)
    download.click(_save, shown_run, saver, queue=False, **QUIET)
    view.fill_gaps_from(shown_run)
    page.load(partial(_watch_loading, shelf, first), None, models_line, concurrency_limit=None, **QUIET)
    return RunOnScreen(view, shown_run)


def _run(shelf: ModelShelf, stopped: threading.Event, prompt: Any, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    try:
        choice, settings = read_form(values)
        checked_prompt(prompt)
    except BadInput as refusal:
        yield gr.skip(), status(str(refusal), "fault"), gr.skip()
        return
    for step in run_steps(shelf, choice, prompt, settings, stopped):
        yield _or_skip(step.view), step.line, _or_skip(step.run)


def _or_skip(value: Any) -> Any:
    return gr.skip() if value is None else value


def _recorded_line(example: Example) -> dict[str, Any]:
    return status(t("app.recorded", example=t(f"app.examples.{example.key}")))


def _show_example(example: Example) -> list[Any]:
    run = ShownRun.whole(recorded_trace(example))
    values = form_values(example.settings, example.choice)
    return [run.since(0), _recorded_line(example) | LEAVE, run, example.prompt, *values]


def _show_upload(form: SettingsForm, data: Any) -> list[Any]:
    kept = [gr.skip()] * len(form.components)
    try:
        trace = Trace.from_json(data)
    except BadInput as refusal:
        return [gr.skip(), status(str(refusal), "fault"), gr.skip(), gr.skip(), *kept]
    line = status(t("app.uploaded", emitted=trace.metrics.emitted), "done")
    run = ShownRun.whole(trace)
    return [run.since(0), line | LEAVE, run, trace.prompt.text, *kept]


def _save(run: ShownRun | None) -> dict[str, Any]:
    return {"name": "trace.json", "text": shown_trace(run).to_json(), "turn": time.time()}


async def _watch_loading(shelf: ModelShelf, first: Example) -> AsyncIterator[dict[str, Any]]:
    """Begins to load the default pair once a page is drawn, and says how far it is until it is done."""
    await asyncio.sleep(DRAWING_SECONDS)  # loading keeps the cores busy, and the page comes first
    try:
        loading, last = shelf.request(first.choice), None
    except BadInput as refusal:
        yield status(str(refusal), "fault")
        return
    while True:
        over, line = loading.finished.is_set(), loading_line(loading)
        if line != last:
            yield line
        if over:
            return
        last = line
        await asyncio.sleep(POLL_SECONDS)
