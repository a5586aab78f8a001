"""Recorded runs for the pages of the lesson."""

from __future__ import annotations

from dataclasses import replace

from specdec.trace.trace import Trace
from visualizations.step_through.examples import examples, recorded_trace
from visualizations.step_through.run_view import RunView, run_view_value


def recorded_run(key: str) -> Trace:
    """The recorded run of the example `key`. Raises StopIteration where there is none."""
    return recorded_trace(next(example for example in examples() if example.key == key))


def beginning(trace: Trace, rounds: int) -> Trace:
    """The first `rounds` rounds of a run, to be shown or counted."""
    return replace(trace, rounds=trace.rounds[:rounds])


def lesson_run(trace: Trace, key: str, look: str) -> RunView:
    """The run in a view of its own. look: the class that says which of its parts the page leaves out."""
    return RunView(run_view_value(trace, f"lesson-{key}"), alone=True, elem_id=f"lesson-{key}-run", elem_classes=look)
