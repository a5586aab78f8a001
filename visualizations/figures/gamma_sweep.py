"""Speedup against the draft length: measured, predicted, "what if", and what papers report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from specdec.exactness.theory import best_gamma, expected_tokens, predicted_speedup
from specdec.timing.comparison import Sweep, SweepPoint
from visualizations.figures.labels import escaped
from visualizations.figures.published import LEVIATHAN, LEVIATHAN_POINTS, SPEC_BENCH, SPEC_BENCH_POINTS
from visualizations.figures.timing_style import MEASURED, PREDICTED, PUBLISHED, WHAT_IF, axis, base_layout
from visualizations.text import t

SHOWN_GAMMAS = 16
TRACES = {"measured": 0, "best_measured": 1, "predicted": 2, "what_if": 3, "best_what_if": 4, "published": [5, 6]}
UNKNOWN_GAMMA = SHOWN_GAMMAS + 1.5  # a column of its own for those who don't tell gamma


@dataclass(frozen=True)
class WhatIf:
    """alpha, c and v that a prediction is made with."""

    alpha: float
    cost_ratio: float
    verify_ratio: float

    @property
    def best(self) -> tuple[int, float]:
        """The best draft length and its speedup; 0 when none helps."""
        return best_gamma(self.alpha, self.cost_ratio, self.verify_ratio)

    def curve(self, longest: int = SHOWN_GAMMAS) -> list[float]:
        """Predicted speedup for gamma = 0 (plain decoding, 1 by definition), 1, ..., longest."""
        c, v = self.cost_ratio, self.verify_ratio
        return [1.0] + [predicted_speedup(expected_tokens(self.alpha, g), g, c, v) for g in range(1, longest + 1)]


def measured_what_if(sweep: Sweep) -> WhatIf:
    """alpha, c and v as the sweep measured them; v at the best draft length, at the longest when none helps."""
    costs = sweep.comparison.costs
    if sweep.alpha is None or costs is None:
        return WhatIf(0.7, 0.1, 1.0)
    gamma = sweep.best_gamma or max(point.gamma for point in sweep.points)
    return WhatIf(sweep.alpha, costs.cost_ratio, costs.verify_ratio(gamma))


def gamma_sweep(sweep: Sweep, what_if: WhatIf | None = None, *, published: bool = False) -> go.Figure:
    """All layers in the order of `TRACES`. what_if: that of `measured_what_if` unless given."""
    what_if = what_if or measured_what_if(sweep)
    gamma, speedup = what_if.best
    points = [point for point in sweep.points if point.result.speedup]
    best = [point for point in points if point.gamma == sweep.best_gamma]
    data = [
        _measured(points),
        _marks(best, t("faster.sweep.best_measured"), "star", MEASURED),
        go.Scatter(
            x=[point.gamma for point in sweep.curve if point.gamma] or [None],
            y=[point.speedup for point in sweep.curve if point.gamma] or [None],
            name=t("faster.sweep.predicted"),
            mode="lines",
            line={"color": PREDICTED, "width": 3},
            hovertemplate="γ %{x}: %{y:.3f}×<extra>" + t("faster.sweep.predicted") + "</extra>",
        ),
        go.Scatter(
            x=list(range(SHOWN_GAMMAS + 1)),
            y=what_if.curve(),
            name=t("faster.sweep.what_if"),
            mode="lines+markers",
            line={"color": WHAT_IF, "width": 2, "dash": "dash"},
            marker={"size": 5},
            hovertemplate="γ %{x}: %{y:.3f}×<extra>" + t("faster.sweep.what_if") + "</extra>",
        ),
        go.Scatter(
            x=[gamma],
            y=[speedup],
            name=t("faster.sweep.best_what_if"),
            mode="markers",
            marker={"symbol": "star-open", "size": 17, "color": WHAT_IF, "line": {"width": 2, "color": WHAT_IF}},
            hovertemplate="γ %{x}: %{y:.3f}×<extra>" + t("faster.sweep.best_what_if") + "</extra>",
        ),
        *_published(published),
    ]
    even = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": {"color": PUBLISHED, "width": 1.5, "dash": "dot"}}
    layout = base_layout(
        460,
        xaxis=axis(t("faster.sweep.gamma_axis"), **x_axis(published)),
        yaxis=axis(t("faster.sweep.speedup_axis"), rangemode="tozero"),
        shapes=[even],
    )
    return go.Figure(data=data, layout=layout)


def x_axis(published: bool) -> dict[str, Any]:
    """The part of the x axis that the published layer changes: a column for those who don't tell gamma."""
    told = list(range(0, SHOWN_GAMMAS + 1, 2))
    return {
        "tickvals": told + [UNKNOWN_GAMMA] * published,
        "ticktext": [str(gamma) for gamma in told] + ["?"] * published,
        "range": [-0.4, SHOWN_GAMMAS + (2.3 if published else 0.5)],
    }


def _measured(points: list[SweepPoint]) -> go.Scatter:
    """Pooled speedups with their 95 % intervals."""
    ratios = [point.result.speedup for point in points]
    return go.Scatter(
        x=[point.gamma for point in points] or [None],
        y=[ratio.pooled for ratio in ratios] or [None],
        name=t("faster.sweep.measured"),
        mode="markers",
        marker={"size": 11, "color": MEASURED},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [(ratio.high or ratio.pooled) - ratio.pooled for ratio in ratios],
            "arrayminus": [ratio.pooled - (ratio.low or ratio.pooled) for ratio in ratios],
            "color": MEASURED,
            "thickness": 2,
            "width": 5,
        },
        customdata=[[ratio.low, ratio.high, ratio.n, point.alpha, point.tokens_per_round] for ratio, point in zip(ratios, points)],
        hovertemplate=t("faster.sweep.measured_hover") + "<extra></extra>",
    )


def _marks(points: list[SweepPoint], name: str, symbol: str, color: str) -> go.Scatter:
    return go.Scatter(
        x=[point.gamma for point in points] or [None],
        y=[point.result.speedup.pooled for point in points] or [None],
        name=name,
        mode="markers",
        marker={"symbol": symbol, "size": 19, "color": color},
        hoverinfo="skip",
    )


def _published(visible: bool) -> list[go.Scatter]:
    layers = (
        (LEVIATHAN, LEVIATHAN_POINTS, "diamond-open", "faster.sweep.leviathan"),
        (SPEC_BENCH, SPEC_BENCH_POINTS, "square-open", "faster.sweep.spec_bench"),
    )
    return [
        go.Scatter(
            x=[UNKNOWN_GAMMA if point.gamma is None else point.gamma for point in points],
            y=[point.speedup for point in points],
            name=t(key),
            visible=visible,
            mode="markers",
            marker={"symbol": symbol, "size": 11, "color": PUBLISHED, "line": {"width": 2, "color": PUBLISHED}},
            customdata=[
                [escaped(point.name), t("faster.sweep.alpha_is", alpha=point.alpha) if point.alpha else "", escaped(source)]
                for point in points
            ],
            hovertemplate=t("faster.sweep.published_hover") + "<extra></extra>",
        )
        for source, points, symbol, key in layers
    ]
