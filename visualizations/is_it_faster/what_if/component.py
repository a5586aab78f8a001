"""`WhatIfView`: the sweep over draft lengths, and sliders for alpha, c and v that move the prediction.

Moving a slider or showing the published points costs no request: the page computes the curve itself, with the
formulas of `specdec.exactness.theory`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from specdec.exactness.theory import MAX_GAMMA
from specdec.timing.comparison import Sweep
from visualizations.components.chart.component import CHART_CSS, embedded
from visualizations.components.plotly_files import LOADER_JS, serve_plotly
from visualizations.components.scripts import THEORY_JS, script
from visualizations.figures.gamma_sweep import SHOWN_GAMMAS, TRACES, gamma_sweep, measured_what_if, x_axis
from visualizations.text import section

HERE = Path(__file__).parent
LIMITS = {"alpha": (0.0, 1.0), "c": (0.0, 1.0), "v": (0.5, 3.0)}


def what_if_value(sweep: Sweep | None, said: str = "") -> dict[str, Any]:
    """The value of a `WhatIfView`. start: where the sliders stand; said: the sweep in words, with its machine."""
    if sweep is None:
        return {"figure": None, "start": None, "said": said}
    start = measured_what_if(sweep)
    values = {"alpha": start.alpha, "c": start.cost_ratio, "v": start.verify_ratio}
    inside = {name: round(min(max(value, LIMITS[name][0]), LIMITS[name][1]), 2) for name, value in values.items()}
    return {"figure": embedded(gamma_sweep(sweep)), "start": inside, "said": said}


class WhatIfView(gr.HTML):
    """Shows a `what_if_value`; an output only."""

    def __init__(self, value: dict[str, Any] | None = None, **kwargs: Any) -> None:
        chart_css = CHART_CSS.read_text("utf-8")
        super().__init__(
            value=value or what_if_value(None),
            html_template=(HERE / "what_if.html").read_text("utf-8"),
            css_template=chart_css + (HERE / "what_if.css").read_text("utf-8"),
            js_on_load=script(LOADER_JS, THEORY_JS, HERE / "what_if.js"),
            apply_default_css=False,
            words=section("faster.sweep"),
            limits={name: list(limits) for name, limits in LIMITS.items()},
            traces=TRACES,
            axes={"own": x_axis(False), "published": x_axis(True)},
            shown_gammas=SHOWN_GAMMAS,
            max_gamma=MAX_GAMMA,
            plotly_js=serve_plotly(),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
