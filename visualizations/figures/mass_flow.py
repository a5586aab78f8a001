"""Where the rejected mass of speculative sampling goes: numbers, and a Sankey figure for a notebook.

The app's page draws the same flow as SVG, since it has to follow a dragging hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from visualizations.figures.labels import escaped
from visualizations.figures.palette import MARK_COLOR, MEANINGS
from visualizations.text import t


def mass_flow(p_small: Sequence[float], p_big: Sequence[float]) -> list[list[float]]:
    """flow[x][y]: the chance that x is drafted and y comes out. Rows sum to p_small, columns to p_big.

    On the diagonal min(p_small, p_big), kept. Elsewhere excess(x) * residual(y) / (1 - beta): a rejected x is
    replaced by y. No joint law with these sums has a larger diagonal.
    """
    excess = [max(0.0, q - p) for q, p in zip(p_small, p_big)]
    lacking = [max(0.0, p - q) for q, p in zip(p_small, p_big)]
    rejected = sum(lacking)
    moved = [[a * b / rejected if rejected > 0 else 0.0 for b in lacking] for a in excess]
    for index, (q, p) in enumerate(zip(p_small, p_big)):
        moved[index][index] += min(q, p)
    return moved


def mass_flow_figure(names: Sequence[str], p_small: Sequence[float], p_big: Sequence[float]) -> go.Figure:
    """Left the drafted tokens, right what comes out; kept mass in one colour, moved mass in another."""
    flow = mass_flow(p_small, p_big)
    size = len(names)
    links = [(x, y, flow[x][y]) for x in range(size) for y in range(size) if flow[x][y] > 0]
    colors = [MEANINGS["overlap" if x == y else "excess"].color for x, y, _ in links]
    labels = [f"{escaped(name)} {mass:.2f}" for masses in (p_small, p_big) for name, mass in zip(names, masses)]
    figure = go.Figure(
        go.Sankey(
            node={"label": labels, "color": MARK_COLOR, "pad": 14, "thickness": 16},
            link={
                "source": [x for x, _, _ in links],
                "target": [size + y for _, y, _ in links],
                "value": [mass for _, _, mass in links],
                "color": [_faint(color) for color in colors],
            },
        )
    )
    return figure.update_layout(
        template="none",
        title=t("exact.playground.flow_title"),
        height=420,
        font={"size": 15, "color": MARK_COLOR},
        paper_bgcolor="rgba(0,0,0,0)",
    )


def _faint(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.45)"
