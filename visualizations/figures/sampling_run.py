"""A sampling test as it goes on: counted frequencies beside p_big, and their distance from it against n.

Both figures have a frame for each checkpoint. Drawing them needs no gradio: `frequencies(run).show()`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from visualizations.figures.labels import tick_label
from visualizations.figures.palette import MARK_COLOR, MEANINGS
from visualizations.figures.still import StillFigure
from visualizations.text import t

HEIGHT = 350
GRID = "rgba(128,128,128,0.25)"


@dataclass(frozen=True)
class SamplingRun:
    """What the figures need of a test.

    labels, law: the cells shown and their p_big; they may be the largest of many with a rest at the end.
    checkpoints: numbers of draws; frequencies[k]: of the cells, after checkpoints[k]; distances, expected:
    total variation there, and what an exact sampler shows on average. limit: the rule's own distance.
    """

    labels: tuple[str, ...]
    law: tuple[float, ...]
    checkpoints: tuple[int, ...]
    frequencies: tuple[tuple[float, ...], ...]
    distances: tuple[float, ...]
    expected: tuple[float, ...]
    limit: float
    passed: bool


def frequencies(run: SamplingRun) -> go.Figure:
    """Bars of the counted frequencies, p_big as outlines over them; a frame for each checkpoint."""
    x = list(range(len(run.labels)))
    meaning = MEANINGS["overlap" if run.passed else "excess"]
    counted = {"type": "bar", "x": x, "width": 0.6, "name": t("exact.sampling.observed"), "marker": meaning.marker()}
    outline = {
        "type": "bar", "x": x, "y": list(run.law), "width": 0.78, "name": t("exact.sampling.p_big"),
        "marker": {"color": "rgba(0,0,0,0)", "line": {"color": MARK_COLOR, "width": 2.5}},
    }  # fmt: skip
    figure = StillFigure(
        data=[{**counted, "y": list(run.frequencies[-1])}, outline],
        frames=[
            go.Frame(name=str(n), data=[{**counted, "y": list(row)}, outline])
            for n, row in zip(run.checkpoints, run.frequencies)
        ],
        layout=_layout("exact.sampling.frequencies"),
    )
    figure.update_layout(barmode="overlay", yaxis={"range": [0, 1.15 * max(run.law + run.frequencies[-1])]})
    figure.update_xaxes(tickvals=x, ticktext=[tick_label(label) for label in run.labels], tickangle=-30)
    return figure


def distances(run: SamplingRun) -> go.Figure:
    """Total variation between counts and p_big against n on log axes; an exact sampler follows 1/sqrt(n)."""
    n = list(run.checkpoints)
    meaning = MEANINGS["overlap" if run.passed else "excess"]

    def lines(upto: int) -> list[dict]:
        observed = {
            **_line("observed", n[:upto], run.distances[:upto], meaning.color, "solid", 3.5), "mode": "lines+markers",
        }  # fmt: skip
        both = [
            observed,
            _line("expected", n, run.expected, MARK_COLOR, "dash", 2.5),
            _line("inverse", n, [size**-0.5 for size in n], MARK_COLOR, "dot", 2),
        ]
        limit = [_line("limit", n, [run.limit] * len(n), MEANINGS["residual"].color, "dashdot", 2.5)]
        return both + (limit if run.limit > 1e-6 else [])

    figure = StillFigure(
        data=lines(len(n)),
        frames=[go.Frame(name=str(size), data=lines(index)) for index, size in enumerate(n, 1)],
        layout=_layout("exact.sampling.distance"),
    )
    lowest = min([*run.expected, *(d for d in run.distances if d > 0)]) / 3
    figure.update_xaxes(type="log", title={"text": t("exact.sampling.n_axis"), "standoff": 4, "font": {"size": 14}}, dtick=1, range=_decades(min(n) * 0.8, max(n) * 1.25))
    figure.update_yaxes(type="log", dtick=1, range=_decades(lowest, 1), exponentformat="power")
    figure.update_layout(showlegend=True)
    return figure


def _line(name: str, x: Sequence[float], y: Sequence[float], color: str, dash: str, width: float) -> dict:
    return {
        "type": "scatter", "mode": "lines", "x": list(x), "y": [value or None for value in y],
        "name": t(f"exact.sampling.{name}"), "line": {"color": color, "dash": dash, "width": width},
        "marker": {"color": color, "size": 6},
    }  # fmt: skip


def _decades(low: float, high: float) -> list[float]:
    from math import log10

    return [log10(max(low, 1e-12)), log10(high)]


def _layout(title: str) -> dict:
    return {
        "template": "none",
        "height": HEIGHT,
        "title": {"text": t(title), "x": 0, "xref": "paper", "font": {"size": 15}},
        "margin": {"l": 52, "r": 10, "t": 40, "b": 104},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 14, "color": MARK_COLOR},
        "legend": {"orientation": "h", "x": 0, "y": -0.3, "yanchor": "top", "font": {"size": 14}},
        "xaxis": {"showgrid": False, "zeroline": False, "tickfont": {"size": 14}, "fixedrange": True},
        "yaxis": {"gridcolor": GRID, "zeroline": False, "nticks": 6, "tickfont": {"size": 14}, "fixedrange": True},
    }
