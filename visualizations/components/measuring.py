"""From a record that grows while it is measured to what the screen shows, step by step."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from time import monotonic
from typing import Any

from specdec.settings import BadInput
from visualizations.components.status_line import status
from visualizations.components.waiting import waiting_line
from visualizations.figures.timing_style import machine
from visualizations.serving.backend import Waiting, is_result
from visualizations.text import say, t

DRAWING_SHARE = 0.1  # of the time, at most: a record that grows takes longer to send, and the work waits meanwhile

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """What is on screen. values: of the section's parts, in their order; None leaves them as they are."""

    line: dict[str, Any]
    values: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Words:
    """How a record is shown: while it grows, when it is complete, and when its visitor stopped it."""

    show: Callable[[Any], Shown]
    finish: Callable[[Any], Shown]
    halt: Callable[[Any], Shown]


def measured_with(*records: Any) -> str:
    """With which models, in which numbers and on which machine the records of a section were measured; each once."""
    named = dict.fromkeys(machine(record.hardware, record.pair, record.dtype) for record in records if record)
    return t("measuring.where", where="; ".join(named))


def growing_steps(
    events: Iterator[Any],
    stop: threading.Event,
    values: Callable[[Any], tuple[Any, ...]],
    counted: Callable[[Any], Any] = lambda record: record,
) -> Iterator[Shown]:
    """Steps of a record that grows, of a backend's `events`. counted: the part of it that has done and total."""

    def saying(key: str, mood: Any) -> Callable[[Any], Shown]:
        def shown(record: Any) -> Shown:
            of = counted(record)
            share = of.done / of.total if mood == "busy" else None
            return Shown(status(t(key, done=of.done, total=of.total), mood, share), values(record))

        return shown

    words = Words(
        saying("measuring.progress", "busy"), saying("measuring.done", "done"), saying("measuring.stopped_at", "done")
    )
    return measured_steps(events, stop, words)


def measured_steps(
    events: Iterator[Any],
    stop: threading.Event,
    words: Words,
    every: float = 0.0,
) -> Iterator[Shown]:
    """What to show at every step of a backend's `events`, at most one each `every` seconds, and at the end.

    Drawing the steps takes at most about `DRAWING_SHARE` of the time, however large the record grows. Setting `stop`
    ends it within a pass of a model, with what there is by then; a fault ends it in words.
    """
    record, due = None, 0.0
    try:
        with closing(events):
            for event in events:
                if isinstance(event, Waiting):
                    record = None if event.again else record
                    yield Shown(status(t("measuring.warming"), "busy") if event.begun else waiting_line(event))
                if not is_result(event):
                    continue
                record = event
                began = monotonic()
                if began >= due:
                    yield words.show(record)
                    due = max(began + every, monotonic() + (monotonic() - began) * (1 / DRAWING_SHARE - 1))
        if record is None:
            yield Shown(status(t("measuring.stopped"), "done"))
        else:
            yield words.halt(record) if stop.is_set() else words.finish(record)
    except BadInput as refusal:
        yield Shown(status(say(refusal.phrase), "fault"))
    except Exception as fault:
        _LOG.exception("A measurement failed")
        line = status(t("measuring.failed", fault=type(fault).__name__), "fault")
        yield Shown(line, words.finish(record).values if record else None)
