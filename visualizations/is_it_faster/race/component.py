"""`RaceView`: two lanes on one clock. Replaying, slowing, scrubbing and zooming cost no request to the server.

Text of a model reaches the page through `textContent` alone. The scripts are one program in small files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.fills import FILLS_CSS
from visualizations.components.scripts import script
from visualizations.figures import palette
from visualizations.figures.timing_style import WORK
from visualizations.is_it_faster.race.value import race_value
from visualizations.text import section

HERE = Path(__file__).parent
SCRIPTS = ("dom.js", "lanes.js", "clock.js", "main.js")


class RaceView(gr.HTML):
    """Shows a `race_value`; an output only."""

    def __init__(self, value: dict[str, Any] | None = None, **kwargs: Any) -> None:
        fills = FILLS_CSS.read_text("utf-8")
        draft = f"--sd-draft: {WORK['draft'].color};\n"
        super().__init__(
            value=value or race_value(None),
            html_template=(HERE / "race.html").read_text("utf-8"),
            css_template=palette.css_variables() + draft + (HERE / "race.css").read_text("utf-8") + fills,
            js_on_load=script(*(HERE / name for name in SCRIPTS)),
            apply_default_css=False,
            words=section("faster.race"),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
