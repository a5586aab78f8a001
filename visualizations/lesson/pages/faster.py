"""Page 10: where drafting stops paying, predicted and measured."""

from __future__ import annotations

from functools import lru_cache

from specdec.exactness.theory import expected_tokens, predicted_speedup
from specdec.timing.comparison import Sweep
from visualizations.figures.timing_style import machine
from visualizations.is_it_faster.captions import sweep_caption
from visualizations.is_it_faster.records import FOLDER
from visualizations.is_it_faster.what_if import WhatIfView
from visualizations.is_it_faster.what_if.component import what_if_value
from visualizations.lesson.page import Page
from visualizations.lesson.written import written_choice, written_page

KEY = "faster"
LONG_GAMMA = 4  # the app's usual draft length, which someone may hold on to


def faster_page() -> Page:
    """The acceptance rate below which no draft length pays."""
    sweep = measured_sweep()
    start = what_if_value(sweep)["start"]
    alpha, c, v = start["alpha"], start["c"], start["v"]
    right, long = c + v - 1, even_alpha(LONG_GAMMA, c, v)
    numbers = {
        "alpha": f"{alpha:.2f}",
        "c": f"{c:.2f}",
        "v": f"{v:.2f}",
        "right": f"{right:.2f}",
        "round": f"{c + v:.2f}",
        "half": f"{1 / 2:.2f}",
        "long": f"{long:.2f}",
        "gamma": LONG_GAMMA,
        "c_limit": f"{1 + alpha - v:.2f}",
        **_measured(sweep),
    }
    return written_page(KEY, _figure, written_choice(KEY, "even", numbers), numbers)


@lru_cache(maxsize=1)
def measured_sweep() -> Sweep:
    """The recorded sweep alone: reading the other records of its tab costs torch."""
    return FOLDER.read({"sweep": Sweep})["sweep"]


def even_alpha(gamma: int, c: float, v: float) -> float:
    """The acceptance rate at which a fixed draft length is as fast as plain decoding, by bisection; 1 where none is."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if predicted_speedup(expected_tokens(middle, gamma), gamma, c, v) > 1:
            high = middle
        else:
            low = middle
    return high


def _measured(sweep: Sweep) -> dict[str, object]:
    """The best and the longest measured draft length, each predicted and measured, and what the formula leaves out."""
    best = max(sweep.points, key=lambda point: point.result.speedup.pooled)
    longest = max(sweep.points, key=lambda point: point.gamma)
    said: dict[str, object] = {
        "where": machine(sweep.comparison.hardware, sweep.comparison.pair, sweep.comparison.dtype),
        "n": best.result.speedup.n,
        "share": f"{best.result.measured_over_predicted:.2f}",
        "loop": f"{100 * sweep.comparison.row(best.result.way).loop_share:.0f}",
    }
    for name, point in (("best", best), ("longest", longest)):
        ratio = point.result.speedup
        said |= {
            f"{name}_gamma": point.gamma,
            f"{name}_predicted": f"{point.result.prediction.speedup:.2f}",
            f"{name}_measured": f"{ratio.pooled:.2f}",
            f"{name}_low": f"{ratio.low:.2f}",
            f"{name}_high": f"{ratio.high:.2f}",
        }
    return said


def _figure() -> WhatIfView:
    sweep = measured_sweep()
    return WhatIfView(what_if_value(sweep, sweep_caption(sweep)), elem_id="lesson-faster-view")
