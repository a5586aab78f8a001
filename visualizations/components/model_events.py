"""Asking for work that needs the models: one wish a visitor."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr
from gradio.components import Component
from gradio.events import Dependency

from visualizations.components.status_line import StatusLine, status
from visualizations.serving.stopping import OpenRuns
from visualizations.text import t

# Gradio begins each at once: who has models and who waits for them is decided by whoever has them.
MODEL_QUEUE: dict[str, Any] = {"concurrency_limit": None, "concurrency_id": "model"}
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
# What needs no models is no event of theirs, however many of those there are.
AT_ONCE: dict[str, Any] = {"queue": False, **QUIET}

# JavaScript: the number in a box, a fresh one where the box is empty. 32 bits are all the seeds there are.
SEED_OR_FRESH = "((seed) => seed ?? crypto.getRandomValues(new Uint32Array(1))[0])"

_SELECT = "() => ({selected: %s, __type__: 'update'})"
_REFUSED = "(line) => line.mood === 'busy' ? {text: line.ask ? %s : %s, mood: 'fault', done: null} : undefined"


def select_on(event: Callable[..., Dependency], tabs: gr.Tabs, key: str) -> None:
    """Let the page select the tab `key` at an event of a component, given as its listener: `component.click`."""
    event(None, None, tabs, js=_SELECT % json.dumps(key), **QUIET)


def ask() -> str:
    """The script of an event from a line to itself: makes it wait and ask, if it isn't busy."""
    return f"(line) => line.mood === 'busy' ? undefined : {_waiting('ask')}"


def _waiting(to: str) -> str:
    return json.dumps(status(t("app.your_turn"), "busy") | {to: True})


def ask_on(triggers: Sequence[Any], line: StatusLine) -> None:
    """Let each of `triggers` make `line` wait and ask, which the page does itself."""
    gr.on(triggers, None, line, line, js=ask(), **QUIET)


def ask_anew_on(
    triggers: Sequence[Any], line: StatusLine, seed: Component, wish: Component, prompt: Component, known: Sequence[str]
) -> None:
    """The same; besides, `seed` is filled in when it is empty, and `wish` is emptied.

    known: texts of `prompt` for which the line looks first: they may have been answered before.
    """
    waiting = f"{json.dumps(list(known))}.includes(text) ? {_waiting('look')} : {_waiting('ask')}"
    script = f"(seed, line, text) => line.mood === 'busy' ? [] : [{SEED_OR_FRESH}(seed), {waiting}, {{}}]"
    gr.on(triggers, None, [seed, line, prompt], [seed, line, wish], js=script, **QUIET)


def on_ask(
    line: StatusLine,
    runs: OpenRuns,
    work: Callable[..., Iterator[tuple[Any, ...]]],
    inputs: Sequence[Component],
    outputs: Sequence[Component],
) -> Dependency:
    """The event of a line that asks: `work(stop, *values)` in its turn, with the raw values of `inputs`.

    One wish a visitor waits or runs; another is refused at the door. When Gradio takes no more the line says so.
    """

    event = line.ask(
        runs.handler(work),
        list(inputs),
        list(outputs),
        preprocess=False,  # the raw values are checked in one place, with one kind of sentence
        validator=door(runs),
        show_progress="minimal",
        show_progress_on=line,
        api_visibility="private",
        **MODEL_QUEUE,
    )
    sentences = json.dumps(t("app.line.full")), json.dumps(t("app.broken_off"))
    event.failure(None, line, line, js=_REFUSED % sentences, **QUIET)
    return event


def door(runs: OpenRuns) -> Callable[..., list[dict[str, Any]]]:
    """A validator, which Gradio asks before a wish joins the queue. It wants a verdict on each of the inputs."""

    def admit(request: gr.Request, *values: Any) -> list[dict[str, Any]]:
        first = gr.validate(runs.admit(request.session_hash), t("app.one_run"))
        return [first, *(gr.validate(True, "") for _ in values[1:])]

    return admit
