"""Tab 1, "Step through": a prompt, its run by real models, and what happened at each token."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial

import gradio as gr
from gradio.events import Dependency

from visualizations.components.file_saver import FileSaver
from visualizations.components.keeping import keep
from visualizations.components.model_events import AT_ONCE, QUIET, ask, ask_anew_on, on_ask
from visualizations.components.settings_form import SettingsForm, build_settings_form
from visualizations.components.status_line import StatusLine
from visualizations.components.waiting import loading_line
from visualizations.serving.backend import Backend
from visualizations.serving.first_pair import first_choice
from visualizations.serving.stopping import OpenRuns
from visualizations.step_through.answered import answer_at_once
from visualizations.step_through.examples import examples, recorded_trace
from visualizations.step_through.finished import FinishedRuns
from visualizations.step_through.handlers import (
    loading,
    recorded_line,
    reopen,
    run_on_screen,
    run_wish,
    save,
    save_session,
    show_example,
    show_upload,
)
from visualizations.step_through.kept_run import (
    LOST,
    UNDER_WAY,
    KeptRun,
    kept_example,
    name_of,
    reopen_script,
)
from visualizations.step_through.lane import build_lane_switch, run_lane_after
from visualizations.step_through.run_view import RunView, run_view_value
from visualizations.step_through.take_away import TakeAway
from visualizations.step_through.until import build_until
from visualizations.step_through.wishes import Wish
from visualizations.text import t

LIVE_SECONDS = 30  # that a run is kept after its last step, for what its page asks for meanwhile
LOADING_SECONDS = 1.0  # also before the first look: loading keeps the cores busy, and the page comes first

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


def build_step_through(page: gr.Blocks, shelf: Backend) -> StepThrough:
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
            run_line = StatusLine(recorded_line(first), elem_id="run-line")
            models_line = StatusLine(loading_line(None), elem_id="models-line")
        take_away = TakeAway(elem_id="take-away")
        upload = gr.UploadButton(
            t("app.upload"), size="sm", min_width=130, file_types=[".json"], type="binary", elem_id="upload"
        )
    view = RunView(run_view_value(recorded_trace(first), name_of(first)), elem_id="run-view")
    trace = KeptRun(kept_example(first))
    live = gr.State(None, time_to_live=LIVE_SECONDS)  # the run under way, from its first round on
    view.fill_gaps_from(live, trace, run_of=run_on_screen)
    saver, wish = FileSaver(), Wish()

    known = [example.prompt for example in examples()]
    ask_anew_on([run.click, prompt.submit], run_line, form.seed, wish, prompt, known)
    wish.go(None, run_line, run_line, js=ask(), **QUIET)
    lanes = OpenRuns()
    runs = OpenRuns(beside=lanes)
    runs.stop_when_left(page)

    def halt(request: gr.Request) -> None:
        runs.stop(request.session_hash)

    asked, answered = [prompt, *until, *form.components], [view, run_line, trace, live]
    finished = FinishedRuns()
    answer_at_once(finished, run_line, wish, asked, answered)
    running = on_ask(run_line, runs, partial(run_wish, shelf, finished), [wish, *asked], answered)
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
        halted.then(partial(show_example, example), None, shown, **AT_ONCE)
    halted = upload.upload(halt, **AT_ONCE)
    halted.then(partial(show_upload, form), upload, shown, **AT_ONCE)
    take_away.take(save, [trace, live], [saver, run_line], **AT_ONCE)
    take_away.fault(None, take_away, run_line, js="(line) => line", **QUIET)
    wish.save(save_session, wish, [saver, run_line], **AT_ONCE)
    recalled = keep(page, "prompt and settings", [prompt, *form.components])
    page.load(None, trace, trace, js=reopen_script(), **QUIET)
    trace.reopened(reopen, trace, [view, run_line, trace], **AT_ONCE)
    clock = gr.Timer(LOADING_SECONDS)
    clock.tick(partial(loading, shelf, first_choice()), None, [models_line, clock], **AT_ONCE)
    return StepThrough(view, trace, prompt, form, recalled)
