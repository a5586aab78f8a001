"""`WorstPlaces`: where the two models agreed least in the run that "Step through" shows, each place a click away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from specdec.trace.record import Position
from specdec.trace.trace import Trace
from visualizations.components.scripts import script
from visualizations.figures.labels import token_label
from visualizations.figures.palette import css_variables
from visualizations.text import section, t

HERE = Path(__file__).parent


def worst_value(trace: Trace | None, said: str = "") -> dict[str, Any]:
    """The value of a `WorstPlaces`. said: why there are none."""
    if trace is None:
        return {"places": [], "said": said}
    from specdec.exactness.dependence import worst_places  # here, because it costs torch

    places = [_place(trace.positions[index], index) for index in worst_places(trace)]
    return {"places": places, "said": "" if places else t("drafting.worst.none")}


def _place(position: Position, index: int) -> dict[str, Any]:
    draft = next((c for c in position.candidates if c.id == position.draft_id), None)
    return {
        "index": index,
        "label": token_label(draft.text if draft else "", position.draft_id or 0, draft and draft.bytes),
        "beta": f"{position.overlap:.2f}",
        "number": position.output_index + 1,
        "kept": position.kind == "accepted",
    }


class WorstPlaces(gr.HTML):
    """Shows a `worst_value`. The event `leave` fires when a place was clicked, which the run view then selects."""

    def __init__(self, value: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(
            value=value or worst_value(None),
            html_template="<section class='wp'><p class='wp-said'></p><ol class='wp-places'></ol></section>",
            css_template=css_variables() + (HERE / "worst.css").read_text("utf-8"),
            js_on_load=script(HERE / "worst.js"),
            apply_default_css=False,
            words=section("drafting.worst"),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
