"""The bars of a single position as a figure of its own."""

from __future__ import annotations

import plotly.graph_objects as go

from specdec.trace.record import Position
from visualizations.figures.token_bars import bar_frame, skeleton, traces_of, x_axis_of

SHOWN = 8


def position_bars(position: Position, shown: int = SHOWN) -> go.Figure:
    """p_small and p_big at a drafted position, side by side for its `shown` likeliest tokens; the rest in 'other'."""
    base, frame = skeleton(), bar_frame(position, shown)
    figure = go.Figure([trace | drawn for trace, drawn in zip(base["data"], traces_of(frame))], base["layout"])
    drawn = [trace for trace in figure.data if trace.x[0] is not None]
    figure.data = drawn
    figure.update_layout(legend={"y": 1.02, "yanchor": "bottom"}, margin={"t": 16})
    figure.update_xaxes(x_axis_of(frame))
    return figure.update_yaxes(range=[0, frame["top"]], selector={"anchor": None})
