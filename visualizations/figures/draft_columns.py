"""Each round a column of its drafts: kept, rejected, wasted; and what would have been the best length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from specdec.timing.policies import Cut, DraftedRound, PolicyRun, PolicyRuns, Threshold, cut_round, cut_to
from visualizations.figures.labels import escaped, token_label
from visualizations.figures.palette import MARK_COLOR, MEANINGS
from visualizations.figures.still import StillFigure
from visualizations.figures.timing_style import SEE_THROUGH, WHAT_IF, axis, base_layout
from visualizations.text import t

HEIGHT = 330
TRACES = ("kept", "rejected", "wasted", "undrafted", "best")
_LOOKS = {
    "kept": MEANINGS["overlap"].marker(),
    "rejected": MEANINGS["excess"].marker(),
    "wasted": {"color": SEE_THROUGH, "line": {"color": MARK_COLOR, "width": 1.5}},
    "undrafted": {"color": "rgba(128,128,128,0.2)", "line": {"width": 0}},
}


def draft_columns(runs: PolicyRuns) -> go.Figure:
    """A frame for each policy's run; they share their axes, so that fewer rounds look like fewer."""
    most = runs.settings.gamma
    frames = [
        go.Frame(name=run.policy, data=_columns(run.rounds, [cut_to(r, len(r.drafts)) for r in run.rounds], most))
        for run in runs.runs
    ]
    longest = max(len(run.rounds) for run in runs.runs)
    return StillFigure(data=frames[0].data, frames=frames, layout=_layout(longest, most))


def cut_columns(run: PolicyRun, kind: Threshold, threshold: float, most: int) -> go.Figure:
    """A run of which a threshold would have cut the drafts."""
    cuts = [cut_round(round_, kind, threshold) for round_ in run.rounds]
    return go.Figure(data=_columns(run.rounds, cuts, most), layout=_layout(len(run.rounds), most))


def _columns(rounds: Sequence[DraftedRound], cuts: Sequence[Cut], most: int) -> list[dict[str, Any]]:
    x = list(range(1, len(rounds) + 1))
    heights = {
        "kept": [cut.accepted for cut in cuts],
        "rejected": [cut.tested - cut.accepted for cut in cuts],
        "wasted": [cut.wasted for cut in cuts],
        "undrafted": [len(round_.drafts) - cut.drafted for round_, cut in zip(rounds, cuts)],
    }
    bars = [  # a bar of height 0 would still have its outline
        {
            "type": "bar", "x": x, "y": [height or None for height in heights[name]], "name": t(f"drafting.columns.{name}"), "marker": look,
            "hoverinfo": "skip", "showlegend": name != "undrafted" or any(heights[name]),
        }
        for name, look in _LOOKS.items()
    ]  # fmt: skip
    best = {
        "type": "scatter", "mode": "markers", "x": x, "y": [round_.hindsight(most) for round_ in rounds],
        "name": t("drafting.columns.best"), "text": [_said(round_) for round_ in rounds],
        "marker": {"symbol": "line-ew", "size": 12, "line": {"color": WHAT_IF, "width": 4}},
        "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip
    return [*bars, best]


def _said(round_: DraftedRound) -> str:
    """The drafts of a round and why there were no more, for a hover."""
    drafts = " ".join(escaped(token_label(draft.text, draft.id)) for draft in round_.drafts)
    value = None if round_.doubt is None else f"{round_.doubt:.2f}"
    why = t(f"drafting.columns.stopped.{round_.stopped}", value=value, limit=round_.limit)
    counts = t("drafting.columns.counts", kept=round_.accepted, rejected=round_.rejected, wasted=round_.wasted)
    return "<br>".join([counts, *([drafts] if drafts else []), why])


def _layout(rounds: int, most: int) -> dict[str, Any]:
    layout = base_layout(
        HEIGHT,
        barmode="stack",
        bargap=0.2,
        hovermode="x",
        xaxis=axis(t("drafting.columns.round_axis"), range=[0.3, rounds + 0.7], showgrid=False),
        yaxis=axis(t("drafting.columns.drafts_axis"), range=[0, most + 0.6], dtick=2),
    )
    return {**layout, "legend": {**layout["legend"], "traceorder": "normal"}}
