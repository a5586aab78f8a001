"""What drafting is worth when several texts are decoded together, from the measured cost of passes."""

from __future__ import annotations

import plotly.graph_objects as go

from specdec.exactness.theory import best_shared, shared_speedup
from specdec.timing.records import Costs
from visualizations.figures.timing_style import MEASURED, PREDICTED, PUBLISHED, WORK, axis, base_layout
from visualizations.text import t

HEIGHT = 400
BATCHES = (1, 2, 4, 8, 16, 32)
GAMMAS = (1, 2, 4)
_LINES = {1: (PUBLISHED, "dot", "circle"), 2: (PREDICTED, "dash", "square"), 4: (WORK["draft"].color, "dashdot", "diamond")}
TRACES = {"best": len(GAMMAS), **{f"gamma{gamma}": index for index, gamma in enumerate(GAMMAS)}}


def most_tokens(costs: Costs) -> int:
    """The widest pass that was measured."""
    return int(costs.target[-1].tokens)


def speedups(alpha: float, gamma: int, costs: Costs) -> list[float | None]:
    """At each of `BATCHES`; None where the pass would be wider than any that was measured."""
    return [
        shared_speedup(alpha, gamma, batch, costs.draft_seconds, costs.target_seconds)
        if batch * (gamma + 1) <= most_tokens(costs)
        else None
        for batch in BATCHES
    ]


def best_of(alpha: float, costs: Costs) -> list[tuple[int, float]]:
    """The best draft length and its speedup at each of `BATCHES`."""
    return [
        best_shared(alpha, batch, costs.draft_seconds, costs.target_seconds, most_tokens(costs)) for batch in BATCHES
    ]


def shared_machine(costs: Costs, alpha: float) -> go.Figure:
    """Lines for fixed draft lengths and for the best one, against the number of texts."""
    names = [str(batch) for batch in BATCHES]
    data = [
        go.Scatter(
            x=names,
            y=speedups(alpha, gamma, costs),
            name=t("drafting.shared.gamma", gamma=gamma),
            mode="lines+markers",
            line={"color": _LINES[gamma][0], "width": 2, "dash": _LINES[gamma][1]},
            marker={"symbol": _LINES[gamma][2], "size": 8},
            hovertemplate="%{y:.2f}×<extra>" + t("drafting.shared.gamma", gamma=gamma) + "</extra>",
        )
        for gamma in GAMMAS
    ]
    best = best_of(alpha, costs)
    data.append(
        go.Scatter(
            x=names,
            y=[speedup for _, speedup in best],
            text=[f"γ = {gamma}" for gamma, _ in best],
            textposition="top center",
            name=t("drafting.shared.best"),
            mode="lines+markers+text",
            line={"color": MEASURED, "width": 4},
            marker={"size": 11},
            hovertemplate="%{text}: %{y:.2f}×<extra>" + t("drafting.shared.best") + "</extra>",
        )
    )
    even = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": {"color": PUBLISHED, "width": 1.5}}
    layout = base_layout(
        HEIGHT,
        xaxis=axis(t("drafting.shared.batch_axis"), type="category", showgrid=False),
        yaxis=axis(t("drafting.shared.speedup_axis"), rangemode="tozero"),
        shapes=[even],
    )
    return go.Figure(data=data, layout=layout)
