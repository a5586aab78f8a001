"""The race as a still figure, for a notebook or a page of paper: two lanes on one clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from visualizations.figures.labels import escaped, token_label
from visualizations.figures.palette import MEANINGS, Meaning
from visualizations.figures.timing_style import SEE_THROUGH, axis, base_layout
from visualizations.text import t

if TYPE_CHECKING:  # importing it costs torch
    from specdec.timing.race import Block, Lane, Race

KINDS = ("accepted", "rejected", "discarded", "target")
LOOKS = {"accepted": MEANINGS["overlap"], "rejected": MEANINGS["excess"], "target": MEANINGS["target"]}


def race_lanes(race: Race) -> go.Figure:
    """A bar for each draft, in the order drafted, and for each pass of the target; hover names the token."""
    lanes = {t("faster.race.plain"): race.plain, t("faster.race.speculative", gamma=race.speculative.gamma): race.speculative}
    bars = {kind: [bar for name, lane in lanes.items() for bar in _bars(name, lane, kind)] for kind in KINDS}
    data = [
        go.Bar(
            orientation="h",
            name=t(f"faster.race.key.{kind}"),
            y=[name for name, *_ in rows] or [None],
            base=[start for _, start, *_ in rows] or [None],
            x=[width for _, _, width, _ in rows] or [None],
            text=[label for *_, label in rows],
            textposition="none",
            marker=_marker(LOOKS.get(kind)),
            hovertemplate="%{text}, %{base:.3f} s<extra>" + t(f"faster.race.key.{kind}") + "</extra>",
        )
        for kind, rows in bars.items()
    ]
    layout = base_layout(
        260,
        barmode="overlay",
        bargap=0.3,
        xaxis=axis(t("faster.race.seconds"), rangemode="tozero"),
        yaxis={"autorange": "reversed", "automargin": True, "ticksuffix": " ", "tickfont": {"size": 15}},
    )
    return go.Figure(data=data, layout=layout)


def _bars(name: str, lane: Lane, kind: str) -> list[tuple[str, float, float, str]]:
    """(lane, start, seconds, label) of everything of that kind."""
    return [(name, *bar) for block in lane.blocks for bar in _of_block(block, kind)]


def _of_block(block: Block, kind: str) -> list[tuple[float, float, str]]:
    drafts = [token for token in block.tokens if token.fate != "added"]
    if kind == "target":
        added = [token.token for token in block.tokens if token.fate == "added"]
        label = escaped(token_label(added[0].text, added[0].id, added[0].bytes)) if added else ""
        return [(block.drafted_at, block.verified_at - block.drafted_at, label)]
    each = (block.drafted_at - block.started) / max(1, len(drafts))
    return [
        (block.started + place * each, each, escaped(token_label(token.token.text, token.token.id, token.token.bytes)))
        for place, token in enumerate(drafts)
        if token.fate == kind
    ]


def _marker(look: Meaning | None) -> dict:
    """A discarded draft is an empty box."""
    return look.marker() if look else {"color": SEE_THROUGH, "line": {"color": MEANINGS["target"].color, "width": 1}}
