"""`SharedView`: what drafting is worth with several texts at once; a slider moves alpha, all on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specdec.exactness.theory import MAX_GAMMA
from specdec.timing.records import Costs
from visualizations.components.chart.component import embedded
from visualizations.components.scripts import THEORY_JS
from visualizations.drafting.panel import Panel
from visualizations.figures.shared_machine import BATCHES, GAMMAS, TRACES, shared_machine

HERE = Path(__file__).parent


def page_costs(costs: Costs) -> dict[str, Any]:
    """Seconds of passes as the page's formulas take them."""
    return {"draft": costs.draft_seconds, "target": [[cost.tokens, cost.seconds.median] for cost in costs.target]}


def shared_value(costs: Costs | None, alpha: float = 0.5, said: str = "") -> dict[str, Any]:
    """The value of a `SharedView`. alpha: where the slider stands."""
    if costs is None:
        return {"figure": None, "costs": None, "alpha": alpha, "said": said}
    start = round(alpha, 2)
    return {"figure": embedded(shared_machine(costs, start)), "costs": page_costs(costs), "alpha": start, "said": said}


class SharedView(Panel):
    """Shows a `shared_value`; an output only."""

    def __init__(self, value: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(
            value or shared_value(None),
            words="drafting.shared",
            scripts=(THEORY_JS, HERE / "shared.js"),
            batches=list(BATCHES),
            gammas=list(GAMMAS),
            traces=TRACES,
            max_gamma=MAX_GAMMA,
            **kwargs,
        )
