"""How the figures on speed look: what works (draft model, target model, the loop), and what a line says.

The four meanings of `palette` stay what they are; these are other things and have colours of their own.
"""

from __future__ import annotations

from typing import Any

from specdec.timing.records import Hardware
from visualizations.figures.palette import MARK_COLOR, MEANINGS, Meaning
from visualizations.text import t

WORK = {
    "draft": Meaning("#8b5fd6", "\\"),  # the draft model's passes
    "target": MEANINGS["target"],  # the target model's passes
    "loop": Meaning("#a8791a", "x"),  # what is no pass: probabilities, draws, verdicts, Python
    "whole": Meaning("#7f8896", ""),  # a run whose passes weren't timed one by one
}
MEASURED, PREDICTED, WHAT_IF, PUBLISHED = "#c2408f", "#a8791a", "#8b5fd6", "#7f8896"
GRID = "rgba(128,128,128,0.25)"
SEE_THROUGH = "rgba(0,0,0,0)"


def base_layout(height: int, **more: Any) -> dict[str, Any]:
    """A layout for the light and the dark page: no background, legend above the plot."""
    return {
        "template": "none",
        "height": height,
        "paper_bgcolor": SEE_THROUGH,
        "plot_bgcolor": SEE_THROUGH,
        "font": {"size": 14, "color": MARK_COLOR},
        "margin": {"l": 64, "r": 16, "t": 16, "b": 56},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 14}},
        "hoverlabel": {"font": {"size": 14}, "align": "left"},
        **more,
    }


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a quiet grid."""
    return {"title": {"text": title, "standoff": 8, "font": {"size": 15}}, "gridcolor": GRID, "zeroline": False, "automargin": True, **more}


def machine(hardware: Hardware, pair: str, dtype: str) -> str:
    """'pair in float32 on Name (cpu, 2 threads)': what belongs beside every number."""
    kind = "device" if hardware.device != "cpu" else "one_thread" if hardware.threads == 1 else "threads"
    values = {"name": hardware.name, "device": hardware.device, "threads": hardware.threads}
    return t(f"figures.machine.{kind}", pair=pair, dtype=dtype, **values)
