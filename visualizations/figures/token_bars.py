"""The bars of one position, and of a whole run as one figure with frames.

Per candidate two thin columns: p_small = overlap + excess, p_big = overlap + residual. `bar_frame` keeps
only the numbers of a position; `skeleton` is everything that is the same for all of them. The app's page
joins the two as `traces_of` does here, so that it, a notebook and an exported file show the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from specdec.trace.record import Candidate, Position, Round
from specdec.trace.trace import Trace
from visualizations.figures.labels import escaped, tick_label, token_label
from visualizations.figures.palette import MARK_COLOR, MEANINGS
from visualizations.figures.still import StillFigure
from visualizations.text import t

SHOWN = 14
FEWEST_SLOTS = 8
LOG_FLOOR = 1e-6
TOPS = (0.1, 0.25, 0.5, 1.0)
HEIGHT = 400
COLUMN = 0.34
PLACE_OF_SMALL, PLACE_OF_BIG = -0.19, 0.19
NOTHING: dict = {"x": [None], "y": [None]}  # draws nothing and, unlike [], keeps its place in the legend


def bar_frame(position: Position, shown: int = SHOWN) -> dict:
    """The bars of one position as plain numbers, largest max(p_big, p_small) first, 'other' last.

    ids (None for 'other') and labels: one for each candidate. overlap, excess, residual: masses in [0, 1]
    with overlap + excess = p_small and overlap + residual = p_big; a position without a draft has
    `target` = p_big instead. drafted, emitted: indexes of the marked candidates, or None. top: where a
    linear axis should end. Candidates beyond `shown` join 'other'; marked ones never do.
    """
    marked = {position.draft_id, position.token_id}
    present = [c for c in position.candidates if c.p > 0 or (c.q or 0) > 0 or c.id in marked]
    present.sort(key=lambda c: -max(c.p, c.q or 0))
    room = shown - sum(c.id in marked for c in present)
    unmarked = [c.id for c in present if c.id not in marked][: max(0, room)]
    kept = [c for c in present if c.id in marked or c.id in unmarked]
    folded = [c for c in present if c.id not in marked and c.id not in unmarked]

    ids = [c.id for c in kept]
    masses = [_masses(c) for c in kept] + [_other_masses(position, folded)]
    highest = max(max(p, overlap + excess) for overlap, excess, _, p in masses)
    frame: dict = {
        "ids": [*ids, None],
        "labels": [*(token_label(c.text, c.id, c.bytes) for c in kept), t("figures.other")],
        "drafted": _index(ids, position.draft_id),
        "emitted": None if position.kind == "discarded" else _index(ids, position.token_id),
        "top": next((top for top in TOPS if highest <= top), TOPS[-1]),
    }
    overlap, excess, residual, p = zip(*masses)
    if position.overlap is None:
        return frame | {"target": list(p[: len(ids) + 1])}
    return frame | {"overlap": list(overlap), "excess": list(excess), "residual": list(residual)}


def skeleton() -> dict:
    """Data and layout of the figure without a position's numbers, as plain JSON data."""
    bar = {"type": "bar", "width": COLUMN, "hoverinfo": "skip", "showlegend": True}
    columns = (
        ("overlap", PLACE_OF_SMALL, True),
        ("excess", PLACE_OF_SMALL, True),
        ("overlap", PLACE_OF_BIG, False),
        ("residual", PLACE_OF_BIG, True),
        ("target", PLACE_OF_BIG, True),
    )
    bars = [
        {
            **bar,
            "name": t(f"figures.legend.{meaning}"),
            "legendgroup": meaning,
            "showlegend": in_legend,
            "marker": MEANINGS[meaning].marker(),
            "offset": place - COLUMN / 2,
        }
        for meaning, place, in_legend in columns
    ]
    return {"data": [*bars, _hover_trace(), *_mark_traces()], "layout": _layout()}


def traces_of(frame: dict) -> list[dict]:
    """What a frame adds to each trace of the skeleton: x, y and where a bar starts."""
    count = len(frame["ids"])
    x = list(range(count))
    if "target" in frame:
        bars = [*[NOTHING] * 4, {"x": x, "y": _drawn(frame["target"])}]
        p, q, overlap = frame["target"], [None] * count, [None] * count
    else:
        overlap = frame["overlap"]
        bars = [
            {"x": x, "y": _drawn(overlap)},
            {"x": x, "y": _drawn(frame["excess"]), "base": overlap},
            {"x": x, "y": _drawn(overlap)},
            {"x": x, "y": _drawn(frame["residual"]), "base": overlap},
            NOTHING,
        ]
        p = [a + b for a, b in zip(overlap, frame["residual"])]
        q = [a + b for a, b in zip(overlap, frame["excess"])]
    hover = {
        "x": x,
        "y": [max(a, b or 0, LOG_FLOOR) for a, b in zip(p, q)],
        "customdata": [
            [escaped(label), _shown(q_), _shown(p_), _shown(both), t("figures.other_ids") if id_ is None else id_]
            for label, p_, q_, both, id_ in zip(frame["labels"], p, q, overlap, frame["ids"])
        ],
    }
    return [*bars, hover, _mark(frame["drafted"], PLACE_OF_SMALL), _mark(frame["emitted"], PLACE_OF_BIG)]


def x_axis_of(frame: dict) -> dict:
    """The part of the x axis that depends on the position. Ticks are indexes: equal labels don't merge."""
    count = len(frame["ids"])
    return {
        "tickvals": list(range(count)),
        "ticktext": [tick_label(label) for label in frame["labels"]],
        "range": [-0.6, max(count, FEWEST_SLOTS) - 0.4],
    }


def token_bars(trace: Trace) -> go.Figure:
    """One figure for a whole run: a frame and a slider step for each position, linear or log scale."""
    base = skeleton()
    places = [(number, place, round_) for number, round_ in enumerate(trace.rounds, 1)
              for place in range(len(round_.positions))]
    frames, steps = [], []
    for index, (number, place, round_) in enumerate(places):
        position = round_.positions[place]
        frame = bar_frame(position)
        title = position_title(number, place, round_)
        layout = {"xaxis": x_axis_of(frame), "title": {"text": title, "x": 0.02, "y": 0.98, "yanchor": "top"}}
        frames.append(go.Frame(name=str(index), data=_merged(base["data"], frame), layout=layout))
        label = tick_label(token_label(position.text, position.token_id, position.bytes))
        steps.append(_step(index, t("figures.step", round=number, place=place + 1, label=label)))
    figure = StillFigure(data=_merged(base["data"], None), layout=base["layout"], frames=frames)
    figure.update_layout(yaxis={"range": [0, 1]}, updatemenus=[_scale_buttons()], margin={"t": 140, "b": 190})
    figure.update_layout(height=HEIGHT + 240, legend={"y": 1.02, "yanchor": "bottom"})
    if frames:
        figure.update(data=[trace_.to_plotly_json() for trace_ in frames[0].data])
        figure.update_layout(frames[0].layout, sliders=[_slider(steps)])
    return figure


def position_title(number: int, place: int, round_: Round) -> str:
    """'Round 2, draft 1 of 4: rejected', from a 1-based round number and a 0-based place in it."""
    kind = round_.positions[place].kind
    return t(f"run_view.title.{kind}", round=number, place=place + 1, drafted=round_.drafted)


def _masses(candidate: Candidate) -> tuple[float, float, float, float]:
    """overlap, excess, residual and p_big of one id, to five significant digits."""
    p, q = candidate.p, candidate.q or 0.0
    return tuple(map(_rounded, (min(p, q), max(0.0, q - p), max(0.0, p - q), p)))  # type: ignore[return-value]


def _other_masses(position: Position, folded: Sequence[Candidate]) -> tuple[float, float, float, float]:
    """The same sums over all ids without bars of their own; each is summed id by id."""
    other = position.other
    p = other.p + sum(c.p for c in folded)
    q = (other.q or 0.0) + sum(c.q or 0.0 for c in folded)
    overlap = (other.overlap or 0.0) + sum(min(c.p, c.q or 0.0) for c in folded)
    return tuple(_rounded(max(0.0, mass)) for mass in (overlap, q - overlap, p - overlap, p))  # type: ignore[return-value]


def _drawn(masses: list[float]) -> list[float | None]:
    """No bar for a mass of 0: plotly would draw its outline as a line."""
    return [mass or None for mass in masses]


def _rounded(mass: float) -> float:
    return float(f"{mass:.5g}")


def _shown(mass: float | None) -> str:
    return t("figures.none") if mass is None else f"{mass:.4g}"


def _index(ids: list[int], wanted: int | None) -> int | None:
    return ids.index(wanted) if wanted in ids else None


def _mark(index: int | None, place: float) -> dict:
    return NOTHING if index is None else {"x": [index + place], "y": [0.5]}


def _merged(data: list[dict], frame: dict | None) -> list[dict]:
    additions = [NOTHING] * len(data) if frame is None else traces_of(frame)
    return [trace | addition for trace, addition in zip(data, additions)]


def _hover_trace() -> dict:
    """Invisible points over the columns: a hover anywhere in a column tells its numbers, even of a tiny bar."""
    return {
        "type": "scatter",
        "mode": "markers",
        "marker": {"opacity": 0, "size": 1, "color": MARK_COLOR},
        "hovertemplate": t("figures.hover") + "<extra></extra>",
        "showlegend": False,
    }


def _mark_traces() -> list[dict]:
    """The row under the bars: a triangle below the drafted p_small, a disc below the emitted p_big."""
    mark = {"type": "scatter", "mode": "markers", "yaxis": "y2", "hoverinfo": "skip", "cliponaxis": False}
    return [
        {**mark, "name": t(f"figures.legend.{name}"), "marker": {"symbol": symbol, "size": 13, "color": MARK_COLOR}}
        for name, symbol in (("drafted", "triangle-up"), ("emitted", "circle"))
    ]


def _layout() -> dict:
    grid = "rgba(128,128,128,0.25)"
    return {
        "template": "none",
        "height": HEIGHT,
        "barmode": "overlay",
        "hovermode": "x",
        "margin": {"l": 58, "r": 8, "t": 12, "b": 96},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 14, "color": MARK_COLOR},
        "legend": {"orientation": "h", "x": 0, "font": {"size": 14}},
        "hoverlabel": {"font": {"size": 14}, "align": "left"},
        "xaxis": {
            "anchor": "y2", "tickmode": "array", "tickangle": -45, "tickfont": {"size": 14},
            "showgrid": False, "zeroline": False, "showline": False, "title": {"text": t("figures.columns")},
        },
        "yaxis": {
            "domain": [0.1, 1], "range": [0, 1], "gridcolor": grid, "zeroline": True, "zerolinecolor": grid,
            "title": {"text": t("figures.probability"), "standoff": 8}, "exponentformat": "power", "nticks": 6,
        },
        "yaxis2": {"domain": [0, 0.08], "range": [0, 1], "visible": False, "fixedrange": True},
    }


def _scale_buttons() -> dict:
    def button(label: str, scale: str, limits: list[float], dtick: float | None) -> dict:
        change = {"yaxis.type": scale, "yaxis.range": limits, "yaxis.dtick": dtick}
        return {"label": label, "method": "relayout", "args": [change]}

    return {
        "type": "buttons", "direction": "right", "x": 1, "xanchor": "right", "y": 1.26, "yanchor": "bottom",
        "buttons": [
            button(t("figures.linear"), "linear", [0, 1], None),
            button(t("figures.log"), "log", [-6, 0], 1),
        ],
    }  # fmt: skip


def _step(index: int, label: str) -> dict:
    how = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    return {"label": label, "method": "animate", "args": [[str(index)], how]}


def _slider(steps: list[dict]) -> dict:
    return {"steps": steps, "active": 0, "pad": {"t": 96}, "x": 0.04, "len": 0.9}
