"""`TakeAway`: what to keep of a run, chosen in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.scripts import script
from visualizations.step_through.take_away.files import FILES
from visualizations.text import section

_HERE = Path(__file__).parent
PICTURES = ("svg", "png")


class TakeAway(gr.HTML):
    """A list of formats and a button.

    The event `take` fires with {format} for one of `FILES`; a picture is asked of the run view on the page. When
    there is none to be had the event `fault` fires, and the value is a `status` that says so.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            value={},
            html_template=(_HERE / "take_away.html").read_text("utf-8"),
            css_template=(_HERE / "take_away.css").read_text("utf-8"),
            js_on_load=script(_HERE / "take_away.js"),
            apply_default_css=False,
            words=section("take_away"),
            files=list(FILES),
            pictures=list(PICTURES),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
