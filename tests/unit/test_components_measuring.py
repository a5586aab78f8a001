"""Drawing a measurement while it runs: a share of the time, whatever a drawing costs."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from visualizations.components.measuring import DRAWING_SHARE, Shown, Words, measured_steps
from visualizations.components.status_line import status

COUNT, WORK_SECONDS = 100, 0.002


def events() -> Any:
    """Of work that takes a moment for each of its records."""
    for number in range(COUNT):
        time.sleep(WORK_SECONDS)
        yield SimpleNamespace(number=number)


@pytest.mark.parametrize("drawing", [0.0, 0.05])
def test_a_drawing_that_takes_long_comes_seldom(drawing: float) -> None:
    shown = []
    words = Words(*[lambda record: Shown(status(str(record.number)))] * 3)
    steps = measured_steps(events(), threading.Event(), words)
    for step in steps:
        shown.append(int(step.line["text"]))
        time.sleep(drawing)
    assert shown[-1] == COUNT - 1 and shown == sorted(shown)
    if drawing:
        assert len(shown) < COUNT / 2
    assert DRAWING_SHARE < 0.5
