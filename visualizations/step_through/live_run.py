"""From a run to what the screen shows: a stream of `Shown`, one for every round."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from specdec.settings import BadInput, Settings
from specdec.trace.trace import Trace
from visualizations.components.status_line import status
from visualizations.figures.token_bars import bar_frame
from visualizations.serving.inputs import PairChoice
from visualizations.serving.runner import Loading, ModelShelf, Waiting
from visualizations.step_through.run_view import run_view_value
from visualizations.text import t

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """What is on screen. view, trace: None leaves them as they are."""

    line: dict[str, Any]
    view: dict[str, Any] | None = None
    trace: Trace | None = None


class GrowingView:
    """The run view's value for a trace that grows: each position's bars are built once."""

    def __init__(self) -> None:
        self._frames: list[dict[str, Any]] = []

    def value(self, trace: Trace, running: bool) -> dict[str, Any]:
        """The value for the trace as it is now."""
        positions = trace.positions
        self._frames += [bar_frame(position) for position in positions[len(self._frames) :]]
        return run_view_value(trace, self._frames, running)


def view_of(trace: Trace) -> dict[str, Any]:
    """The run view's value for a whole trace."""
    return GrowingView().value(trace, running=False)


def empty_view(running: bool = False) -> dict[str, Any]:
    """The run view without a run; running: one is about to begin."""
    return run_view_value(None, [], running)


def run_steps(
    shelf: ModelShelf, choice: PairChoice, prompt: str, settings: Settings, stop: threading.Event
) -> Iterator[Shown]:
    """What to show at every step of a run, the last when it is over.

    Setting `stop` ends it within a pass of a model, a fault with a line in words. Closing the iterator ends it too.
    """
    view, trace = GrowingView(), None

    def last(line: dict[str, Any]) -> Shown:
        return Shown(line, view.value(trace, running=False) if trace else empty_view())

    try:
        with closing(shelf.traces(choice, prompt, settings, stop)) as events:
            for event in events:
                if stop.is_set():
                    break
                if isinstance(event, Waiting):
                    yield Shown(waiting_line(event), empty_view(running=True))
                    continue
                trace = event
                over = trace.output.stop_reason != "cancelled"
                line = finished_line(trace) if over else running_line(trace)
                yield Shown(line, view.value(trace, running=not over), trace)
        if trace is None or trace.output.stop_reason == "cancelled":
            yield last(status(t("app.stopped"), "done"))
    except BadInput as refusal:
        yield last(status(str(refusal), "fault"))
    except Exception as fault:
        _LOG.exception("A run failed")
        yield last(status(t("app.run_failed", fault=type(fault).__name__), "fault"))


def waiting_line(event: Waiting) -> dict[str, Any]:
    """What a run waits for."""
    if event.loading is not None:
        return loading_line(event.loading)
    return status(t("app.model_busy" if event.busy else "app.reading"), "busy")


def loading_line(loading: Loading | None) -> dict[str, Any]:
    """How far the loading of a pair is."""
    if loading is None:
        return status(t("app.load_later"))
    if loading.error is not None:
        return status(str(loading.error), "fault")
    if loading.pair is not None:
        return status(t("app.loaded", pair=loading.choice.title), "done")
    text = loading.progress.message if loading.progress else t("app.load_begins", pair=loading.choice.title)
    return status(text, "busy", loading.progress.done if loading.progress else None)


def running_line(trace: Trace) -> dict[str, Any]:
    """How far a run is."""
    emitted, limit = trace.metrics.emitted, trace.settings.max_new_tokens
    return status(t("app.running", emitted=emitted, limit=limit), "busy", emitted / limit)


def finished_line(trace: Trace) -> dict[str, Any]:
    """How a run ended."""
    return status(t(f"app.finished.{trace.output.stop_reason}", emitted=trace.metrics.emitted), "done")
