"""`ThresholdView`: a recorded run with fixed length, cut by a threshold that a slider moves, all on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specdec.settings import Settings
from specdec.timing.policies import PolicyRuns
from specdec.timing.records import Costs
from visualizations.components.chart.component import embedded
from visualizations.components.scripts import THEORY_JS
from visualizations.drafting.panel import Panel
from visualizations.drafting.shared.component import page_costs
from visualizations.figures.draft_columns import TRACES, cut_columns

HERE = Path(__file__).parent
MOST_NATS = 5.0


def threshold_value(runs: PolicyRuns | None, costs: Costs | None = None, said: str = "") -> dict[str, Any]:
    """The value of a `ThresholdView`, from the run with fixed length. costs: what rounds are worth with."""
    run = runs.run("fixed") if runs else None
    if runs is None or run is None:
        return {"figure": None, "rounds": [], "costs": None, "said": said}
    rounds = [
        {
            "tested": round_.tested,
            "accepted": round_.accepted,
            "emitted": round_.emitted,
            "chances": [draft.chance for draft in round_.drafts],
            "entropies": [draft.entropy for draft in round_.drafts],
        }
        for round_ in run.rounds
    ]
    figure = cut_columns(run, "entropy", runs.settings.entropy_threshold, runs.settings.gamma)
    return {"figure": embedded(figure), "rounds": rounds, "costs": page_costs(costs) if costs else None, "said": said}


class ThresholdView(Panel):
    """Shows a `threshold_value`; an output only."""

    def __init__(self, value: dict[str, Any] | None = None, **kwargs: Any) -> None:
        usual = Settings()
        sliders = {
            "entropy": {"min": 0, "max": MOST_NATS, "step": 0.05, "value": usual.entropy_threshold},
            "confidence": {"min": 0, "max": 1, "step": 0.01, "value": usual.confidence_threshold},
        }
        super().__init__(
            value or threshold_value(None),
            words="drafting.threshold",
            scripts=(THEORY_JS, HERE / "cut.js", HERE / "threshold.js"),
            sliders=sliders,
            traces={name: index for index, name in enumerate(TRACES)},
            **kwargs,
        )
