"""From a run to what the screen shows: a stream of `Shown`, each with the rounds that are new."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from specdec.settings import BadInput, Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.components.status_line import status
from visualizations.components.waiting import waiting_line
from visualizations.serving.ahead import ahead
from visualizations.serving.inputs import PairChoice
from visualizations.serving.runner import ModelShelf
from visualizations.step_through.beside import is_comparable
from visualizations.step_through.run_view import ShownRun, empty_value, new_run
from visualizations.text import t

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """What is on screen. view: what joins it; run: all of it. None leaves them as they are."""

    line: dict[str, Any]
    view: dict[str, Any] | None = None
    run: ShownRun | None = None


def run_steps(
    shelf: ModelShelf, choice: PairChoice, prompt: str, settings: Settings, stop: threading.Event
) -> Iterator[Shown]:
    """What to show at every step of a run, the last when it is over. What a step costs doesn't grow with the run.

    Setting `stop` ends it within a pass of a model, a fault with a line in words. Closing the iterator ends it too.
    """
    name, run = new_run(), None

    def last(line: dict[str, Any]) -> Shown:
        if run is None:
            return Shown(line, empty_value(name, running=False))
        run.end()
        return Shown(line, run.since(len(run)))

    try:
        with closing(ahead(shelf.steps(choice, prompt, settings, stop))) as batches:
            for batch in batches:
                if stop.is_set():
                    break
                first = len(run) if run else 0
                for event in batch:
                    if isinstance(event, Trace):
                        run = ShownRun(event, name)
                    elif isinstance(event, Step):
                        run.add(event)
                if run is None:
                    yield Shown(waiting_line(batch[-1]), empty_value(name, running=True))
                    continue
                if run.record.stop_reason != "cancelled":
                    run.end()
                yield Shown(run_line(run), run.since(first), None if first else run)
        if run is None or run.running:
            yield last(status(t("app.stopped"), "done"))
    except BadInput as refusal:
        yield last(status(str(refusal), "fault"))
    except Exception as fault:
        _LOG.exception("A run failed")
        yield last(status(t("app.run_failed", fault=type(fault).__name__), "fault"))


def run_line(run: ShownRun) -> dict[str, Any]:
    """How far a run is, or how it ended; under "beside" then its name, where plain decoding can be held against it."""
    emitted = run.record.metrics.emitted
    if not run.running:
        line = status(t(f"app.finished.{run.record.stop_reason}", emitted=emitted), "done")
        return line | ({"beside": run.run} if is_comparable(run.record.start, run.record.stop_reason) else {})
    limit = run.record.start.settings.max_new_tokens
    return status(t("app.running", emitted=emitted, limit=limit), "busy", emitted / limit)
