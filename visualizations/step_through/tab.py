"""Tab 1, "Step through": a prompt, its run by real models, and what happened at each token."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr
from gradio.events import Dependency

from specdec.settings import BadInput
from specdec.trace.session import is_session
from specdec.trace.trace import Trace
from visualizations.components.file_saver import FileSaver
from visualizations.components.keeping import keep
from visualizations.components.model_events import ASK, AT_ONCE, QUIET, ask_anew_on, on_ask
from visualizations.components.settings_form import SettingsForm, build_settings_form, form_values
from visualizations.components.status_line import StatusLine, status
from visualizations.components.waiting import loading_line
from visualizations.serving.first_pair import first_choice, offered, startable
from visualizations.serving.inputs import PairChoice
from visualizations.serving.runner import ModelShelf
from visualizations.serving.stopping import OpenRuns
from visualizations.step_through.examples import Example, examples, recorded_trace
from visualizations.step_through.kept_run import (
    LOST,
    NOTHING,
    UNDER_WAY,
    KeptRun,
    kept,
    kept_example,
    name_of,
    reopen_script,
    shown_again,
    trace_on_screen,
)
from visualizations.step_through.lane import build_lane_switch, run_lane_after
from visualizations.step_through.live_run import shown_steps
from visualizations.step_through.run_view import RunView, ShownRun, empty_value, new_run, run_view_value
from visualizations.step_through.sessions import opened_session, reopened_tree, saved_session
from visualizations.step_through.take_away import TakeAway, run_file
from visualizations.step_through.until import build_until
from visualizations.step_through.wishes import Asked, Wish, read_wish
from visualizations.text import LANGUAGES, say, spoken, t

STATE_SECONDS = 3600
LOADING_SECONDS = 1.0  # also before the first look: loading keeps the cores busy, and the page comes first
LEAVE = {"leave": True}

# A run that leaves the queue does so without a word from the server.
_STOPPED = "(line) => line.mood === 'busy' ? {text: %s, mood: 'done', leave: true} : line"
# So does one that the server breaks off, and the page has only a part of it.
_BROKEN_OFF = "(view, held) => held.missing === %s ? [JSON.stringify({...JSON.parse(view), running: false}), %s] : []"


@dataclass(frozen=True)
class RunOnScreen:
    """What other tabs may look at: the run's view, and its trace (read it with `trace_on_screen`)."""

    view: RunView
    trace: KeptRun


@dataclass(frozen=True)
class StepThrough(RunOnScreen):
    """The same and, for the page's address, the boxes of the prompt and the settings, and the event that puts in what
    they held before the page was opened again."""

    prompt: gr.Textbox
    form: SettingsForm
    recalled: Dependency


def build_step_through(page: gr.Blocks, shelf: ModelShelf) -> StepThrough:
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
            (
                example,
                gr.Button(
                    t(f"app.examples.{example.key}"),
                    size="sm", min_width=90, elem_classes="example", elem_id=f"example-{example.key}",
                ),
            )
            for example in examples()
        ]
    with gr.Accordion(t("app.settings"), open=False, elem_id="settings"):
        form = build_settings_form(first.settings)
        beside = build_lane_switch(page)
    with gr.Accordion(t("until.title"), open=False, elem_id="until"):
        until = build_until()
    with gr.Row(elem_classes="status-row"):
        with gr.Column(scale=6, min_width=300, elem_classes="status-lines"):
            run_line = StatusLine(_recorded_line(first), elem_id="run-line")
            models_line = StatusLine(loading_line(None), elem_id="models-line")
        take_away = TakeAway(elem_id="take-away")
        upload = gr.UploadButton(
            t("app.upload"), size="sm", min_width=130, file_types=[".json"], type="binary", elem_id="upload"
        )
    view = RunView(run_view_value(recorded_trace(first), name_of(first)), elem_id="run-view")
    trace = KeptRun(kept_example(first))
    live = gr.State(None, time_to_live=STATE_SECONDS)  # the run under way, from its first round on
    view.fill_gaps_from(live)
    saver, wish = FileSaver(), Wish()

    ask_anew_on([run.click, prompt.submit], run_line, form.seed, wish)
    wish.go(None, run_line, run_line, js=ASK, **QUIET)
    lanes = OpenRuns()
    runs = OpenRuns(beside=lanes)
    runs.stop_when_left(page)

    def halt(request: gr.Request) -> None:
        runs.stop(request.session_hash)

    asked = [wish, prompt, *until, *form.components]
    running = on_ask(run_line, runs, partial(_run, shelf), asked, [view, run_line, trace, live])
    broken_off = _BROKEN_OFF % (json.dumps(UNDER_WAY["missing"]), json.dumps(LOST))
    run_lane_after(running, shelf, lanes, beside, run_line, live, view)
    running.failure(None, [view, trace], [view, trace], js=broken_off, **QUIET)
    # First a run comes to its own end, so that its last word is last; then one that only waits leaves the queue.
    run_line.leave(None, cancels=[running], **QUIET)
    halted = stop.click(halt, **AT_ONCE)
    halted.then(None, run_line, run_line, js=_STOPPED % json.dumps(t("app.stopped")), **QUIET)
    shown = [view, run_line, trace, prompt, *form.components]
    for example, button in buttons:
        halted = button.click(halt, **AT_ONCE)
        halted.then(partial(_show_example, example), None, shown, **AT_ONCE)
    halted = upload.upload(halt, **AT_ONCE)
    halted.then(partial(_show_upload, form), upload, shown, **AT_ONCE)
    take_away.take(_save, [trace, live], [saver, run_line], **AT_ONCE)
    take_away.fault(None, take_away, run_line, js="(line) => line", **QUIET)
    wish.save(_save_session, wish, [saver, run_line], **AT_ONCE)
    recalled = keep(page, "prompt and settings", [prompt, *form.components])
    page.load(None, trace, trace, js=reopen_script(), **QUIET)
    trace.reopened(_reopen, trace, [view, run_line, trace], **AT_ONCE)
    clock = gr.Timer(LOADING_SECONDS)
    clock.tick(partial(_loading, shelf, first_choice()), None, [models_line, clock], **AT_ONCE)
    return StepThrough(view, trace, prompt, form, recalled)


def _run(
    shelf: ModelShelf, stopped: threading.Event, wish: Any, prompt: Any, *values: Any
) -> Iterator[tuple[Any, ...]]:
    try:
        asked = read_wish(wish, prompt, values)
    except BadInput as refusal:
        yield gr.skip(), status(say(refusal.phrase), "fault"), gr.skip(), gr.skip()
        return
    run = None
    for step in shown_steps(shelf, asked, stopped):
        news, run = step.run is not run, step.run
        yield _or_skip(step.view), step.line, _held(step.line, run, asked), run if news else gr.skip()


def _held(line: dict[str, Any], run: ShownRun | None, asked: Asked) -> dict[str, Any]:
    """What the page holds of a run at a step of it: the trace, once it is whole."""
    if line["mood"] == "busy":
        return UNDER_WAY
    if run:
        return kept(run.record.trace(), run.run)
    return shown_again(asked.origin["parent"]) if asked.origin else NOTHING


def _or_skip(value: Any) -> Any:
    return gr.skip() if value is None else value


def _recorded_line(example: Example) -> dict[str, Any]:
    return status(t("app.recorded", example=t(f"app.examples.{example.key}")))


def _show_example(example: Example) -> list[Any]:
    trace = recorded_trace(example)
    choice = offered(example.choice)
    values, view = form_values(startable(example.settings, choice), choice), run_view_value(trace, name_of(example))
    return [view, _recorded_line(example) | LEAVE, kept_example(example), example.prompt, *values]


def _show_upload(form: SettingsForm, data: Any) -> list[Any]:
    same = [gr.skip()] * len(form.components)
    try:
        view, held, trace = opened_session(data) if is_session(data) else _opened_trace(data)
    except BadInput as refusal:
        return [gr.skip(), status(say(refusal.phrase), "fault"), gr.skip(), gr.skip(), *same]
    words = "app.session.opened" if "session" in held else "app.uploaded"
    line = status(t(words, emitted=trace.metrics.emitted, runs=len(held.get("session", ()))), "done")
    return [view, line | LEAVE, held, trace.prompt.text, *same]


def _opened_trace(data: Any) -> tuple[dict[str, Any], dict[str, Any], Trace]:
    trace, name = Trace.from_json(data), new_run()
    return run_view_value(trace, name), kept(trace, name), trace


def _save(held: Any, live: ShownRun | None, asked: gr.EventData) -> tuple[Any, Any]:
    wanted = asked._data if isinstance(asked._data, dict) else {}
    try:
        trace = live.record.trace() if live and held == UNDER_WAY else trace_on_screen(held)
        with spoken([wanted["language"] if wanted.get("language") in LANGUAGES else LANGUAGES[0]]):
            return run_file(trace, wanted.get("format")), gr.skip()
    except BadInput as refusal:
        return gr.skip(), status(say(refusal.phrase), "fault")


def _save_session(asked: Any) -> tuple[Any, Any]:
    try:
        return saved_session(asked), gr.skip()
    except BadInput as refusal:
        return gr.skip(), status(say(refusal.phrase), "fault")


def _reopen(held: Any) -> tuple[Any, ...]:
    """The run that was on screen before the page was opened again."""
    before = [t("app.reopened.lost")] if held.get("reopened") == "lost" else []
    try:
        trace = trace_on_screen(held)
    except BadInput as missing:
        gone = LOST if held.get("missing") == UNDER_WAY["missing"] else gr.skip()
        words = t("app.reopened.under_way") if gone == LOST else say(missing.phrase)
        return empty_value(new_run(), running=False), status(" ".join([*before, words]), "fault"), gone
    words = t("app.reopened.trace", emitted=trace.metrics.emitted)
    for example in examples():
        if held.get("example") == example.key:
            words = _recorded_line(example)["text"]
    try:
        view, kept_again = reopened_tree(held.get("tree"), held.get("run"))
    except BadInput:  # a single run, or a tree that was too large to keep
        name = held.get("run")
        view, kept_again = run_view_value(trace, name if isinstance(name, str) else None), gr.skip()
    return view, status(" ".join([*before, words])), kept_again


def _loading(shelf: ModelShelf, choice: PairChoice) -> tuple[dict[str, Any], gr.Timer]:
    """Begins to load a pair, and says how far it is; no more looks are needed once it is over."""
    try:
        loading = shelf.warm(choice)
    except BadInput as refusal:  # others are loading: it is asked again with the next look
        return status(say(refusal.phrase), "fault"), gr.Timer(active=True)
    over, line = loading.finished.is_set(), loading_line(loading)
    return line, gr.Timer(active=not over)
