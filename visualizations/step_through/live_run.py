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
from visualizations.serving.backend import Backend, Shared, Waiting
from visualizations.serving.inputs import PairChoice
from visualizations.step_through.beside import is_comparable
from visualizations.step_through.run_view import ShownRun, mark_again
from visualizations.step_through.wishes import Asked, new_run_of
from visualizations.text import say, t

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """What is on screen. view: what joins it, None for nothing. run: all of it, None before its first round."""

    line: dict[str, Any]
    view: dict[str, Any] | None = None
    run: ShownRun | None = None


def run_steps(
    shelf: Backend, choice: PairChoice, prompt: str, settings: Settings, stop: threading.Event
) -> Iterator[Shown]:
    """What to show at every step of a run that begins with its prompt: see `shown_steps`."""
    return shown_steps(shelf, new_run_of(choice, prompt, settings), stop)


def shown_steps(shelf: Backend, asked: Asked, stop: threading.Event) -> Iterator[Shown]:
    """What to show at every step of what was asked for, the last when it is over or pauses.

    What a step costs doesn't grow with the run. Setting `stop` ends it within a pass of a model, a fault with a line
    in words. Closing the iterator ends it too.
    """
    run, pause, shared, again = asked.continued, None, False, None
    kept = len(run) if run else 0
    if run:
        run.go_on()

    def last(line: dict[str, Any]) -> Shown:
        if run is None:
            return Shown(line, asked.blank(running=False))
        run.end()
        return Shown(line, run.since(len(run)), run)

    try:
        with closing(ahead(asked.parts(shelf, stop))) as batches:
            for batch in batches:
                if stop.is_set():
                    break
                first = len(run) if run else 0
                for event in batch:
                    if isinstance(event, Trace):
                        run = ShownRun(event, asked.name, asked.origin, again)
                    elif isinstance(event, Step):
                        pause = asked.until.met(event, run.text)
                        run.add(event)
                        if pause and event.stop_reason == "cancelled":
                            break
                        pause = None
                    elif isinstance(event, Shared):
                        shared = True
                    elif event.again:
                        again, first, pause = mark_again(kept), kept, None
                        run = run.begun_again(again) if run else None
                if isinstance(batch[-1], Waiting):
                    yield Shown(waiting_line(batch[-1]), run.since(kept) if run and again else asked.blank(running=True), run)
                    continue
                if pause:
                    stop.set()  # the next round has begun already: its models are free before their next pass
                    run.end({"round": len(run) - 1, "place": pause.place})
                    yield Shown(status(pause.why, "done"), run.since(first), run)
                    return
                if run.record.stop_reason != "cancelled":
                    run.end()
                yield Shown(run_line(run, shared), run.since(first), run)
        if run is None or run.running:
            yield last(status(t("app.stopped"), "done"))
    except BadInput as refusal:
        yield last(status(say(refusal.phrase), "fault"))
    except Exception as fault:
        _LOG.exception("A run failed")
        yield last(status(t("app.run_failed", fault=type(fault).__name__), "fault"))


def run_line(run: ShownRun, shared: bool = False) -> dict[str, Any]:
    """How far a run is, or how it ended; under "beside" then its name, where plain decoding can be held against it.

    shared: others have had the models at the same time, so that its seconds can't be held against another's.
    """
    emitted = run.record.metrics.emitted
    also = f"{t('app.begun_again')} " if run.again else ""
    if not run.running:
        words = also + t(f"app.finished.{run.record.stop_reason}", emitted=emitted)
        if shared:
            return status(f"{words} {t('app.shared')}", "done")
        line = status(words, "done")
        return line | ({"beside": run.run} if is_comparable(run.record.start, run.record.stop_reason) else {})
    limit = run.record.start.settings.max_new_tokens
    return status(also + t("app.running", emitted=emitted, limit=limit), "busy", emitted / limit)
