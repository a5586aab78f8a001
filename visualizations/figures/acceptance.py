"""What acceptance depends on: place in the draft, the two models' entropies, kind of token and of prompt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from visualizations.figures.palette import MARK_COLOR, MEANINGS
from visualizations.figures.timing_style import MEASURED, PREDICTED, WHAT_IF, axis, base_layout
from visualizations.text import t

if TYPE_CHECKING:  # importing it costs torch
    from specdec.exactness.dependence import DraftFact, Share

HEIGHT = 330
MOST_POINTS = 500
BIN_EDGES = (0.0, 0.05, 0.2, 0.4, 0.6, 0.9, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)  # nats


def rates(shares: Sequence[Share], title: str, labels: Sequence[str] | None = None) -> go.Figure:
    """alpha of each share with its 95 % interval, from left to right."""
    data = [_rates(labels or [share.label for share in shares], shares, "y")]
    layout = base_layout(
        HEIGHT,
        showlegend=False,
        xaxis=axis(title, type="category", showgrid=False),
        yaxis=axis(t("drafting.acceptance.alpha_axis"), range=[0, 1.04], dtick=0.2),
    )
    return go.Figure(data=data, layout=layout)


def rates_by_kind(tokens: Sequence[Share], prompts: Sequence[Share]) -> go.Figure:
    """alpha by kind of token, above that by kind of prompt."""
    groups = [("token", tokens), ("prompt", prompts)]
    data = []
    for (kind, shares), symbol in zip(groups, ("circle", "diamond")):
        names = [t(f"drafting.acceptance.{kind}.{share.label}") for share in shares]
        one = _rates(names, shares, "x", symbol)
        data.append({**one, "name": t(f"drafting.acceptance.{kind}_kind")})
    layout = base_layout(
        HEIGHT + 90,
        xaxis=axis(t("drafting.acceptance.alpha_axis"), range=[-0.03, 1.04], dtick=0.2),
        yaxis=axis("", type="category", autorange="reversed", showgrid=False),
    )
    return go.Figure(data=data, layout=layout)


def overlap_by_entropy(facts: Sequence[DraftFact], threshold: float) -> go.Figure:
    """beta of each draft against its law's entropy, the mean of Pinsker's bound, and where a policy stops."""
    step = max(1, math.ceil(len(facts) / MOST_POINTS))
    drawn = facts[::step]
    centres, bounds = pinsker_line(facts)
    widest = max((fact.draft_entropy for fact in facts), default=1.0)
    data = [
        {
            "type": "scatter", "mode": "markers", "name": t("drafting.acceptance.one_draft"),
            "x": [fact.draft_entropy for fact in drawn], "y": [fact.overlap for fact in drawn],
            "marker": {"size": 5, "color": MEANINGS["overlap"].color, "opacity": 0.45},
            "hovertemplate": "β %{y:.2f}, %{x:.2f} nats<extra></extra>",
        },
        {
            "type": "scatter", "mode": "lines+markers", "name": t("drafting.acceptance.pinsker"), "x": centres, "y": bounds,
            "line": {"color": PREDICTED, "width": 3}, "marker": {"size": 6},
            "hovertemplate": "%{y:.2f}<extra>" + t("drafting.acceptance.pinsker") + "</extra>",
        },
        {
            "type": "scatter", "mode": "lines", "name": t("drafting.acceptance.threshold", threshold=f"{threshold:g}"),
            "x": [threshold, threshold], "y": [0, 1], "line": {"color": WHAT_IF, "width": 2, "dash": "dash"}, "hoverinfo": "skip",
        },
    ]  # fmt: skip
    layout = base_layout(
        HEIGHT,
        xaxis=axis(t("drafting.acceptance.draft_entropy_axis"), range=[-0.1, widest + 0.2]),
        yaxis=axis(t("drafting.acceptance.beta_axis"), range=[-0.02, 1.04], dtick=0.2),
    )
    return go.Figure(data=data, layout=layout)


def pinsker_bound(divergence: float | None) -> float:
    """max(0, 1 - sqrt(KL / 2)) <= beta; 0 where the divergence is infinite (None)."""
    return 0.0 if divergence is None else max(0.0, 1 - math.sqrt(divergence / 2))


def pinsker_line(facts: Sequence[DraftFact]) -> tuple[list[float], list[float]]:
    """Mean entropy and mean bound of the drafts in each bin of `BIN_EDGES`; empty bins are left out."""
    bins: dict[int, list[DraftFact]] = {}
    for fact in facts:
        bins.setdefault(sum(fact.draft_entropy >= edge for edge in BIN_EDGES), []).append(fact)
    means = [
        (_mean([fact.draft_entropy for fact in bins[key]]), _mean([pinsker_bound(fact.divergence) for fact in bins[key]]))
        for key in sorted(bins)
    ]
    return [entropy for entropy, _ in means], [bound for _, bound in means]


def _rates(names: Sequence[str], shares: Sequence[Share], along: str, symbol: str = "circle") -> dict[str, Any]:
    """Points along the axis `along` ('x' or 'y'), named on the other."""
    values = [share.rate for share in shares]
    error = {
        "type": "data", "symmetric": False, "color": MEASURED, "thickness": 2, "width": 5,
        "array": [share.high - share.rate for share in shares],
        "arrayminus": [share.rate - share.low for share in shares],
    }  # fmt: skip
    axes = {"x": values, "y": list(names)} if along == "x" else {"x": list(names), "y": values}
    label = "%{y}" if along == "x" else "%{x}"
    return {
        "type": "scatter", "mode": "markers", **axes, f"error_{along}": error,
        "marker": {"size": 10, "color": MEASURED, "symbol": symbol, "line": {"color": MARK_COLOR, "width": 1}},
        "customdata": [[share.accepted, share.tested, share.low, share.high] for share in shares],
        "hovertemplate": label + t("drafting.acceptance.hover", value="%{" + along + ":.2f}") + "<extra></extra>",
    }  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
