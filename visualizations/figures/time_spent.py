"""Where the time goes: seconds for 100 tokens, plain and speculative, measured and by the seed formula."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from specdec.timing.comparison import Comparison, Prediction
from specdec.timing.records import RunTiming
from visualizations.figures.timing_style import WORK, axis, base_layout
from visualizations.text import t

TOKENS = 100
PARTS = ("draft", "target", "loop", "whole")


@dataclass(frozen=True)
class Split:
    """Seconds for `TOKENS` tokens by who worked. whole: where the passes weren't timed one by one."""

    name: str
    draft: float = 0.0
    target: float = 0.0
    loop: float = 0.0
    whole: float = 0.0

    @property
    def seconds(self) -> float:
        return self.draft + self.target + self.loop + self.whole


def split_of(name: str, run: RunTiming) -> Split | None:
    """Measured seconds, scaled to `TOKENS` tokens; None for a run that timed no token."""
    if not run.decode_tokens:
        return None
    scale = TOKENS / run.decode_tokens
    if run.draft_seconds is None or run.target_seconds is None or run.loop_seconds is None:
        return Split(name, whole=scale * run.decode_seconds)
    return Split(name, scale * run.draft_seconds, scale * run.target_seconds, scale * run.loop_seconds)


def splits_of(comparison: Comparison, way: int) -> list[Split]:
    """Plain and speculative, each as measured and, where costs were measured, as the formula has it."""
    base = comparison.way("plain")
    plain, fast, result = comparison.row(base), comparison.row(way), comparison.result(way, base)
    gamma = comparison.ways[way].settings.gamma
    splits = []
    if plain:
        splits.append(split_of(t("faster.time.plain"), plain.timing))
    if result and result.prediction:
        splits.append(Split(t("faster.time.plain_formula"), target=TOKENS * result.prediction.t_big))
    if fast:
        splits.append(split_of(t("faster.time.speculative", gamma=gamma), fast.timing))
    if result and result.prediction:
        splits.append(_predicted(t("faster.time.speculative_formula"), result.prediction))
    return [split for split in splits if split]


def time_spent(comparison: Comparison, way: int) -> go.Figure:
    """Stacked bars of `splits_of`, top to bottom. way: index of the speculative way in the comparison."""
    splits = splits_of(comparison, way)
    longest = max((split.seconds for split in splits), default=0.0)
    data = []
    for part in PARTS:
        seconds = [getattr(split, part) for split in splits]
        if part == "whole" and not any(seconds):
            continue
        data.append(
            go.Bar(
                orientation="h",
                name=t(f"faster.time.{part}"),
                y=[split.name for split in splits],
                x=[value or None for value in seconds],
                marker=WORK[part].marker(),
                hovertemplate=t("faster.time.hover") + "<extra>%{fullData.name}</extra>",
            )
        )
    ends = go.Scatter(
        x=[split.seconds for split in splits],
        y=[split.name for split in splits],
        text=[f" {split.seconds:.2f} s" for split in splits],
        mode="text",
        textposition="middle right",
        textfont={"size": 16},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )
    layout = base_layout(
        320,
        barmode="stack",
        margin={"l": 64, "r": 76, "t": 16, "b": 56},
        bargap=0.35,
        xaxis=axis(t("faster.time.axis", tokens=TOKENS), range=[0, longest or 1]),
        yaxis={"autorange": "reversed", "automargin": True, "ticksuffix": " ", "tickfont": {"size": 15}},
    )
    layout["legend"]["traceorder"] = "normal"
    return go.Figure(data=[*data, ends], layout=layout)


def _predicted(name: str, prediction: Prediction) -> Split:
    rounds = TOKENS / prediction.tokens_per_round
    return Split(name, rounds * prediction.steps_per_round * prediction.t_small, rounds * prediction.t_big_verify)
