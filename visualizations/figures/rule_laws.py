"""Every rule's law beside p_big, for a notebook; the app's page draws the same numbers while bars are dragged."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from specdec.settings import EXACT_RULES
from visualizations.figures.labels import tick_label
from visualizations.figures.palette import MARK_COLOR, MEANINGS
from visualizations.text import t

COLUMNS = 4


def rule_laws(
    names: Sequence[str], p_big: Sequence[float], laws: dict[str, tuple[Sequence[float], float, float]]
) -> go.Figure:
    """laws: for each rule its law over `names`, its P(accept) and its total variation to p_big."""
    titles = [
        f"{t(f'exact.playground.rules.{rule}.name')}<br>{acceptance:.3f} kept, TV {distance:.3f}"
        for rule, (_, acceptance, distance) in laws.items()
    ]
    rows = -(-len(laws) // COLUMNS)
    figure = make_subplots(rows, COLUMNS, subplot_titles=titles, shared_yaxes=True, vertical_spacing=0.24)
    x = list(range(len(names)))
    for index, (rule, (law, _, _)) in enumerate(laws.items()):
        place = {"row": index // COLUMNS + 1, "col": index % COLUMNS + 1}
        meaning = MEANINGS["overlap" if rule in EXACT_RULES else "excess"]
        figure.add_bar(x=x, y=list(law), width=0.6, marker=meaning.marker(), showlegend=False, **place)
        outline = {"color": "rgba(0,0,0,0)", "line": {"color": MARK_COLOR, "width": 2.5}}
        figure.add_bar(x=x, y=list(p_big), width=0.8, marker=outline, showlegend=False, **place)
    figure.update_xaxes(tickvals=x, ticktext=[tick_label(name) for name in names])
    return figure.update_layout(template="none", barmode="overlay", height=260 * rows, margin={"t": 60})
