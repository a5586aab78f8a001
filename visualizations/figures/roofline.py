"""The roofline: what passes achieve under the two ceilings that were measured on this device."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from visualizations.figures.timing_style import MEASURED, PREDICTED, PUBLISHED, axis, base_layout
from visualizations.text import t

if TYPE_CHECKING:  # importing it costs torch
    from specdec.timing.roofline import Roofline, RooflinePoint

GIGA = 1e9


def roofline_figure(roofline: Roofline, gamma: int) -> go.Figure:
    """Achieved GFLOP/s against operations per byte, on logarithmic scales, under the device's ceilings.

    Marked: decoding (1 token), the measured pass nearest to a verification (gamma + 1 tokens), prefill.
    """
    decoding = [point for point in roofline.points if point.kind == "decode"]
    prefill = [point for point in roofline.points if point.kind == "prefill"]
    verify = verification_of(roofline, gamma)
    left = min(point.intensity for point in roofline.points) / 2
    right = 2 * max(roofline.ceilings.ridge, *(point.intensity for point in roofline.points))
    ridge = roofline.ceilings.ridge
    xs = [left, ridge, right]
    roof = go.Scatter(
        x=xs,
        y=[_ceiling(roofline, x) for x in xs],
        name=t("faster.why.ceilings"),
        mode="lines",
        line={"color": PREDICTED, "width": 3},
        hoverinfo="skip",
    )
    others = [point for point in decoding if point.tokens > 1 and point is not verify]
    ones = [point for point in decoding if point.tokens == 1]
    verified = [verify] if verify else []
    data = [
        roof,
        _points(others, roofline, t("faster.why.other_passes"), "circle-open", PUBLISHED, 9, told=False),
        _points(ones, roofline, t("faster.why.decode_point"), "circle", MEASURED, 15),
        _points(verified, roofline, t("faster.why.verify_point"), "diamond", MEASURED, 15),
        _points(prefill, roofline, t("faster.why.prefill_point"), "square", PUBLISHED, 13, where="bottom center"),
    ]
    lowest = min(point.flop_rate for point in roofline.points) / GIGA
    layout = base_layout(
        440,
        xaxis=axis(t("faster.why.intensity_axis"), type="log", range=_decades(left, right), dtick=1, exponentformat="none"),
        yaxis=axis(
            t("faster.why.flops_axis"), type="log", dtick=1, exponentformat="none",
            range=_decades(lowest / 2, 2 * roofline.ceilings.flop_rate / GIGA),
        ),
        annotations=_ceiling_names(roofline, left, right),
    )  # fmt: skip
    return go.Figure(data=data, layout=layout)


def verification_of(roofline: Roofline, gamma: int) -> RooflinePoint | None:
    """The measured decoding pass of more than one token that is nearest to gamma + 1."""
    wide = [point for point in roofline.points if point.kind == "decode" and point.tokens > 1]
    return min(wide, key=lambda point: abs(point.tokens - gamma - 1), default=None)


def _ceiling(roofline: Roofline, intensity: float) -> float:
    """GFLOP/s that are possible at so many operations per byte."""
    return min(roofline.ceilings.byte_rate * intensity, roofline.ceilings.flop_rate) / GIGA


def _points(
    points: Sequence[RooflinePoint],
    roofline: Roofline,
    name: str,
    symbol: str,
    color: str,
    size: int,
    *,
    told: bool = True,
    where: str = "bottom right",
) -> go.Scatter:
    """Passes of one kind; told: the widest has its name and number of tokens beside it."""
    labels = ["" for _ in points[:-1]] + [t("faster.why.point", name=name, tokens=point.tokens) for point in points[-1:]]
    return go.Scatter(
        x=[point.intensity for point in points] or [None],
        y=[point.flop_rate / GIGA for point in points] or [None],
        name=name,
        mode="markers+text" if told else "markers",
        text=labels if told else None,
        textposition=where,
        textfont={"size": 15},
        marker={"symbol": symbol, "size": size, "color": color, "line": {"color": color, "width": 2}},
        customdata=[
            [
                point.tokens,
                point.byte_rate / GIGA,
                100 * point.flop_rate / GIGA / _ceiling(roofline, point.intensity),
                t(f"faster.why.bound.{roofline.bound(point)}"),
                1e3 * point.seconds.median,
                point.seconds.n,
            ]
            for point in points
        ],
        hovertemplate=t("faster.why.point_hover") + "<extra></extra>",
        cliponaxis=False,
    )


def _ceiling_names(roofline: Roofline, left: float, right: float) -> list[dict]:
    """What the slope and the flat part of the roof are, written above them."""
    top = roofline.ceilings
    slope_at = (left * top.ridge) ** 0.5
    slope = t("faster.why.memory_ceiling", rate=f"{top.byte_rate / GIGA:.3g}")
    flat = t("faster.why.arithmetic_ceiling", rate=f"{top.flop_rate / GIGA:.3g}")
    quiet = {"showarrow": False, "font": {"size": 14}}
    return [
        {"text": slope, "x": log10(slope_at), "y": log10(_ceiling(roofline, slope_at)), "xanchor": "right", "yanchor": "bottom", **quiet},
        {"text": flat, "x": log10(right), "y": log10(top.flop_rate / GIGA), "xanchor": "right", "yanchor": "bottom", **quiet},
    ]


def _decades(low: float, high: float) -> list[float]:
    """The range of a logarithmic axis."""
    return [log10(low), log10(high)]
