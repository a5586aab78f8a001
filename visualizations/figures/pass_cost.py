"""What a pass of the target costs against the number of tokens in it: flat, then rising."""

from __future__ import annotations

import plotly.graph_objects as go

from specdec.timing.records import Costs
from visualizations.figures.timing_style import MEASURED, PREDICTED, PUBLISHED, WORK, axis, base_layout
from visualizations.text import t

HEIGHT = 360
BAND = "rgba(194,64,143,0.18)"


def pass_time(costs: Costs, gamma: int) -> go.Figure:
    """Milliseconds of a pass against its tokens, with quartiles; dashed: as many passes of one token."""
    x = [cost.tokens for cost in costs.target]
    medians = [1e3 * cost.seconds.median for cost in costs.target]
    edges = {name: [1e3 * getattr(cost.seconds, name) for cost in costs.target] for name in ("q1", "q3")}
    one = 1e3 * costs.target_seconds(1)
    top = 1.15 * max(edges["q3"])
    quiet = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    data = [
        go.Scatter(x=x, y=edges["q1"], **quiet),
        go.Scatter(x=x, y=edges["q3"], fill="tonexty", fillcolor=BAND, **quiet),
        go.Scatter(
            x=x,
            y=medians,
            name=t("faster.why.one_pass"),
            mode="lines+markers",
            line={"color": MEASURED, "width": 2.5},
            marker={"size": 6},
            customdata=[[median / one, cost.seconds.n] for median, cost in zip(medians, costs.target)],
            hovertemplate=t("faster.why.pass_hover") + "<extra></extra>",
        ),
        go.Scatter(
            x=[1, x[-1]],
            y=[one, one * x[-1]],
            name=t("faster.why.separate"),
            mode="lines",
            line={"color": PREDICTED, "width": 2, "dash": "dash"},
            hoverinfo="skip",
        ),
        _verified(gamma, 1e3 * costs.target_seconds(gamma + 1), costs),
    ]
    if costs.draft_step:
        data.append(
            go.Scatter(
                x=[1],
                y=[1e3 * costs.draft_seconds],
                name=t("faster.why.draft_step"),
                mode="markers",
                marker={"symbol": "triangle-up", "size": 13, "color": WORK["draft"].color},
                hovertemplate="%{y:.2f} ms<extra>" + t("faster.why.draft_step") + "</extra>",
            )
        )
    layout = base_layout(
        HEIGHT,
        xaxis=axis(t("faster.why.tokens_axis"), range=[0, x[-1] + 1]),
        yaxis=axis(t("faster.why.ms_axis"), range=[0, top]),
    )
    return go.Figure(data=data, layout=layout)


def throughput(costs: Costs, gamma: int) -> go.Figure:
    """Tokens a second that go through the target, against the tokens in a pass."""
    x = [cost.tokens for cost in costs.target]
    rates = [cost.tokens / cost.seconds.median for cost in costs.target]
    one = 1 / costs.target_seconds(1)
    data = [
        go.Scatter(
            x=x,
            y=rates,
            name=t("faster.why.rate"),
            mode="lines+markers",
            line={"color": MEASURED, "width": 2.5},
            marker={"size": 6},
            hovertemplate=t("faster.why.rate_hover") + "<extra></extra>",
        ),
        go.Scatter(
            x=[1, x[-1]],
            y=[one, one * x[-1]],
            name=t("faster.why.free"),
            mode="lines",
            line={"color": PREDICTED, "width": 2, "dash": "dash"},
            hoverinfo="skip",
        ),
        _verified(gamma, (gamma + 1) / costs.target_seconds(gamma + 1), costs),
    ]
    layout = base_layout(
        HEIGHT,
        xaxis=axis(t("faster.why.tokens_axis"), range=[0, x[-1] + 1]),
        yaxis=axis(t("faster.why.rate_axis"), range=[0, 1.15 * max(rates)]),
    )
    return go.Figure(data=data, layout=layout)


def _verified(gamma: int, y: float, costs: Costs) -> go.Scatter:
    """Where a verification of gamma drafts lies."""
    return go.Scatter(
        x=[gamma + 1],
        y=[y],
        name=t("faster.why.verification", gamma=gamma, tokens=gamma + 1),
        mode="markers",
        marker={"symbol": "diamond", "size": 14, "color": MEASURED, "line": {"color": PUBLISHED, "width": 1.5}},
        customdata=[costs.verify_ratio(gamma)],
        hovertemplate=t("faster.why.verify_hover") + "<extra></extra>",
    )
