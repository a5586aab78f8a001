"""What a draft costs against how often it is right, with the speedup that both together are worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from specdec.exactness.theory import expected_tokens, predicted_speedup
from specdec.timing.records import Costs
from visualizations.figures.palette import MARK_COLOR
from visualizations.figures.timing_style import MEASURED, PREDICTED, WHAT_IF, WORK, axis, base_layout
from visualizations.text import t

if TYPE_CHECKING:  # importing it costs torch
    from specdec.timing.drafters import Drafters

HEIGHT = 460
STEPS = 45
TICKS = (0, 0.02, 0.1, 0.2, 0.4, 0.7, 1, 1.5, 2)
_LOOKS = {
    "model": ("circle", MEASURED, 15),
    "prompt_lookup": ("square", WORK["draft"].color, 14),
    "lookup_then_model": ("diamond", WHAT_IF, 16),
    "target": ("star", MARK_COLOR, 18),
    "head_4096": ("triangle-down", PREDICTED, 11),
    "head_8192": ("triangle-up", PREDICTED, 14),
    "head_16384": ("triangle-right", PREDICTED, 17),
}


def best_speedup(alpha: float, cost_ratio: float, costs: Costs) -> float:
    """The closed form's best over the draft lengths whose pass was measured; 1, plain decoding, where none helps."""
    widest = int(costs.target[-1].tokens) - 1
    lengths = range(1, widest + 1)
    worth = [predicted_speedup(expected_tokens(alpha, g), g, cost_ratio, costs.verify_ratio(g)) for g in lengths]
    return max([1.0, *worth])


def drafter_map(drafters: Drafters) -> go.Figure:
    """A point for each drafter over contour lines of the speedup that the closed form gives c and alpha."""
    widest = max(1.0, *(math.sqrt(point.cost_ratio) for point in drafters.points)) + 0.04
    roots = [widest * i / STEPS for i in range(STEPS + 1)]  # of c: what is cheap lies close together
    alphas = [i / STEPS for i in range(STEPS + 1)]
    heights = [[best_speedup(alpha, root * root, drafters.costs) for root in roots] for alpha in alphas]
    contours = go.Contour(
        x=roots,
        y=alphas,
        z=heights,
        contours={
            "coloring": "lines", "start": 1.2, "end": 3.0, "size": 0.2,
            "showlabels": True, "labelfont": {"size": 13}, "labelformat": ".1f",
        },
        colorscale=[[0, MARK_COLOR], [1, MARK_COLOR]],
        line={"width": 1.5, "smoothing": 0.6},
        showscale=False,
        hovertemplate="%{z:.2f}×<extra></extra>",
        name=t("drafting.drafters.contours"),
        showlegend=True,
    )
    points = [
        go.Scatter(
            x=[math.sqrt(point.cost_ratio)],
            y=[point.alpha],
            name=t(f"drafting.drafters.key.{point.key}"),
            mode="markers",
            marker=_marker(point.key),
            customdata=[[point.cost_ratio, point.tokens_per_round or 0, point.speedup or 0]],
            hovertemplate=t("drafting.drafters.hover") + "<extra>" + t(f"drafting.drafters.key.{point.key}") + "</extra>",
        )
        for point in drafters.points
        if point.alpha is not None
    ]
    layout = base_layout(
        HEIGHT,
        xaxis=axis(
            t("drafting.drafters.c_axis"),
            tickvals=[math.sqrt(c) for c in TICKS],
            ticktext=[f"{c:g}" for c in TICKS],
            range=[-0.04, widest + 0.02],
            tickangle=0,
            showgrid=False,
        ),
        yaxis=axis(t("drafting.drafters.alpha_axis"), range=[0, 1.06], dtick=0.2, showgrid=False),
    )
    return go.Figure(data=[contours, *points], layout=layout)


def _marker(key: str) -> dict[str, Any]:
    symbol, color, size = _LOOKS[key]
    return {"symbol": symbol, "color": color, "size": size, "line": {"color": MARK_COLOR, "width": 1}}
