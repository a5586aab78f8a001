"""A whole run as one figure to step through in a notebook: the bars of each position below its place in the text."""

from __future__ import annotations

import plotly.graph_objects as go

from specdec.trace.record import Position
from specdec.trace.trace import Trace
from visualizations.figures.labels import escaped, tick_label, token_label
from visualizations.figures.token_bars import token_bars
from visualizations.text import t

WINDOW = 9  # positions in the strip: so many labels stand side by side
STRIP_AXES = {
    "xaxis2": {"domain": [0, 1], "range": [-0.5, WINDOW - 0.5], "visible": False, "fixedrange": True, "anchor": "y3"},
    "yaxis3": {"domain": [0.82, 1], "range": [0, 1], "visible": False, "fixedrange": True, "anchor": "x2"},
}  # fmt: skip
TOP_OF_BARS = 0.76


def run_figure(trace: Trace) -> go.Figure:
    """`token_bars` with a strip of the tokens around the position, its own one in bold, and with what it measured.

    One frame and one step of the slider for each position; a step's label names round and place.
    """
    figure = token_bars(trace)
    places = [(number, position) for number, round_ in enumerate(trace.rounds, 1) for position in round_.positions]
    for index, frame in enumerate(figure.frames):
        frame.data = [*frame.data, _strip(places, index)]
        frame.layout.title.text += f"<br>{_numbers(places[index][1], trace.settings.rule)}"
    if figure.frames:
        figure.add_trace(figure.frames[0].data[-1])
        figure.update_layout(STRIP_AXES, title=figure.frames[0].layout.title)
        figure.update_yaxes(domain=[0.1, TOP_OF_BARS], selector={"domain": (0.1, 1)})
        figure.update_layout(height=figure.layout.height + 120, margin={"t": 170})
    return figure


def _strip(places: list[tuple[int, Position]], index: int) -> dict:
    first = max(0, min(index - WINDOW // 2, len(places) - WINDOW))
    near = range(first, min(first + WINDOW, len(places)))
    return {
        "type": "scatter", "mode": "text", "xaxis": "x2", "yaxis": "y3", "showlegend": False, "hoverinfo": "skip",
        "cliponaxis": False, "x": list(range(len(near))), "y": [0.5] * len(near),
        "text": [_in_strip(*places[at], begins=at == 0 or places[at - 1][0] != places[at][0], chosen=at == index) for at in near],
    }  # fmt: skip


def _in_strip(number: int, position: Position, begins: bool, chosen: bool) -> str:
    """A token below its fate, and at a round's beginning below the round's name too."""
    label = tick_label(token_label(position.text, position.token_id, position.bytes))
    fate = f"<s>{tick_label(_draft_label(position))}</s>" if position.kind == "replaced" else t(f"run_view.mark.{position.kind}")
    name = t("run_view.round", round=number) if begins else ""
    token = f"<b>[ {label} ]</b>" if chosen else label
    return f"{name}<br>{fate}<br>{token}"


def _numbers(position: Position, rule: str) -> str:
    """What was measured at a position, in one line for plotly."""
    if position.draft_id is None:
        p = next(c.p for c in position.candidates if c.id == position.token_id)
        label = token_label(position.text, position.token_id, position.bytes)
        return t("figures.alone", label=escaped(label), p=_shown(p))
    said = [t("run_view.bars_row", label=escaped(_draft_label(position)), q=_shown(position.q), p=_shown(position.p))]
    if position.coin is not None:
        said.append(t("run_view.coin.passes" if rule == "block" else "run_view.coin.kept", accept=_shown(position.accept_probability)))
        said.append(t("run_view.coin.value", coin=_shown(position.coin)))
    return " · ".join([*said, f"{t('run_view.facts.overlap')} {_shown(position.overlap)}"])


def _draft_label(position: Position) -> str:
    draft = next(c for c in position.candidates if c.id == position.draft_id)
    return token_label(draft.text, draft.id, draft.bytes)


def _shown(number: float | None) -> str:
    return t("figures.none") if number is None else f"{number:.3g}"
