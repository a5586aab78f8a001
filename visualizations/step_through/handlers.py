"""What the server does at the events of the tab: each takes raw values of the page and gives values of its parts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import gradio as gr

from specdec.settings import BadInput
from specdec.trace.session import is_session
from specdec.trace.trace import Trace
from visualizations.components.settings_form import SettingsForm, form_values
from visualizations.components.status_line import status
from visualizations.components.waiting import loading_line
from visualizations.serving.backend import Backend
from visualizations.serving.first_pair import offered, startable
from visualizations.serving.inputs import PairChoice
from visualizations.step_through.answered import answer
from visualizations.step_through.examples import Example, examples, recorded_trace
from visualizations.step_through.finished import FinishedRuns
from visualizations.step_through.kept_run import (
    LOST,
    NOTHING,
    UNDER_WAY,
    kept,
    kept_example,
    name_of,
    shown_again,
    trace_on_screen,
)
from visualizations.step_through.live_run import shown_steps
from visualizations.step_through.run_view import ShownRun, empty_value, new_run, run_view_value
from visualizations.step_through.sessions import opened_session, reopened_tree, saved_session
from visualizations.step_through.take_away import run_file
from visualizations.step_through.wishes import Asked, read_wish
from visualizations.text import LANGUAGES, say, spoken, t

LEAVE = {"leave": True}


def run_wish(
    shelf: Backend, finished: FinishedRuns, stopped: threading.Event, wish: Any, prompt: Any, *values: Any
) -> Iterator[tuple[Any, ...]]:
    """Decode what is asked for, unless it is finished already; yields the view, the line, what the page holds, and the run where it is another."""
    try:
        asked = read_wish(wish, prompt, values)
    except BadInput as refusal:
        yield gr.skip(), status(say(refusal.phrase), "fault"), gr.skip(), gr.skip()
        return
    run = None
    with closing(shown_steps(shelf, asked, stopped)) as steps:
        while True:
            if run is None and (found := answer(finished, asked)):  # while it waits another may finish the same
                stopped.set()
                yield found
                return
            if (step := next(steps, None)) is None:
                return
            run = step.run
            finished.keep(asked.canned, run, step.line["text"])
            yield _or_skip(step.view), step.line, _held(step.line, run, asked), _or_skip(run)


def _held(line: dict[str, Any], run: ShownRun | None, asked: Asked) -> dict[str, Any]:
    """What the page holds of a run at a step of it: the trace, once it is whole."""
    if line["mood"] == "busy":
        return UNDER_WAY
    if run:
        return kept(run.record.trace(), run.run, asked.origin)
    return shown_again(asked.origin["parent"]) if asked.origin else NOTHING


def _or_skip(value: Any) -> Any:
    return gr.skip() if value is None else value


def recorded_line(example: Example) -> dict[str, Any]:
    """What the line says of an example."""
    return status(t("app.recorded", example=t(f"app.examples.{example.key}")))


def show_example(example: Example) -> list[Any]:
    """Everything that an example brings, in the order of the tab's `shown`."""
    trace = recorded_trace(example)
    choice = offered(example.choice)
    values, view = form_values(startable(example.settings, choice), choice), run_view_value(trace, name_of(example))
    return [view, recorded_line(example) | LEAVE, kept_example(example), example.prompt, *values]


def show_upload(form: SettingsForm, data: Any) -> list[Any]:
    """The same for a file that was opened: a trace, or a session of several runs."""
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


def run_on_screen(live: ShownRun | None, held: Any) -> ShownRun | None:
    """The run that a view shows: the one under way or just over, else the one that the page holds, if any."""
    name = held.get("run") if isinstance(held, dict) else None
    if live and name in (None, live.run):
        return live
    try:
        return ShownRun.whole(trace_on_screen(held), name, held.get("origin"))
    except BadInput:
        return None


def save(held: Any, live: ShownRun | None, asked: gr.EventData) -> tuple[Any, Any]:
    """The run on screen, or the one under way as far as it is, as a file in the format that was asked for."""
    wanted = asked._data if isinstance(asked._data, dict) else {}
    try:
        trace = live.record.trace() if live and held == UNDER_WAY else trace_on_screen(held)
        with spoken([wanted["language"] if wanted.get("language") in LANGUAGES else LANGUAGES[0]]):
            return run_file(trace, wanted.get("format")), gr.skip()
    except BadInput as refusal:
        return gr.skip(), status(say(refusal.phrase), "fault")


def save_session(asked: Any) -> tuple[Any, Any]:
    """The tree of runs as one file."""
    try:
        return saved_session(asked), gr.skip()
    except BadInput as refusal:
        return gr.skip(), status(say(refusal.phrase), "fault")


def reopen(held: Any) -> tuple[Any, ...]:
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
            words = recorded_line(example)["text"]
    try:
        view, kept_again = reopened_tree(held.get("tree"), held.get("run"))
    except BadInput:  # a single run, or a tree that was too large to keep
        name = held.get("run")
        view, kept_again = run_view_value(trace, name if isinstance(name, str) else None), gr.skip()
    return view, status(" ".join([*before, words])), kept_again


def loading(shelf: Backend, choice: PairChoice) -> tuple[dict[str, Any], gr.Timer]:
    """Begins to load a pair, and says how far it is; no more looks are needed once it is over."""
    try:
        loading = shelf.warm(choice)
    except BadInput as refusal:  # others are loading: it is asked again with the next look
        return status(say(refusal.phrase), "fault"), gr.Timer(active=True)
    over, line = loading.loaded or loading.error is not None, loading_line(loading)
    return line, gr.Timer(active=not over)
