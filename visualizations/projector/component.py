"""`Projector`: the button and the keys of projector mode. How it looks is in projector.css, which is for the whole page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.scripts import script
from visualizations.components.small_button import SMALL_BUTTON_CSS
from visualizations.text import section

HERE = Path(__file__).parent
PROJECTOR_CSS = HERE / "projector.css"


class Projector(gr.HTML):
    """A button; see projector.js for the keys and for what they do. It asks nothing of the server."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            value={},
            html_template="<button type='button' aria-pressed='false'></button>",
            css_template=SMALL_BUTTON_CSS,
            js_on_load=script(HERE / "stage.js", HERE / "freezing.js", HERE / "legend.js", HERE / "projector.js"),
            apply_default_css=False,
            words=section("projector"),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
