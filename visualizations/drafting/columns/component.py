"""`ColumnsView`: the rounds of one prompt as columns of drafts. Choosing a policy costs no request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specdec.settings import POLICIES
from specdec.timing.policies import PolicyRuns
from visualizations.components.chart.component import embedded
from visualizations.drafting.panel import Panel
from visualizations.figures.draft_columns import draft_columns

HERE = Path(__file__).parent


def columns_value(runs: PolicyRuns | None, answers: dict[str, str] | None = None, said: str = "") -> dict[str, Any]:
    """The value of a `ColumnsView`. answers: for each policy its run in a sentence."""
    return {"figure": None if runs is None else embedded(draft_columns(runs)), "answers": answers or {}, "said": said}


class ColumnsView(Panel):
    """Shows a `columns_value`; an output only."""

    def __init__(self, value: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(
            value or columns_value(None), words="drafting.columns", scripts=(HERE / "columns.js",), policies=list(POLICIES), **kwargs
        )
