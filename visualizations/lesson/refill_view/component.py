"""`RefillView`: the law that comes out beside p_big, for the law of the replacement that was answered.

It listens to `specdec:answered` and `specdec:revealed` of its question, whose options are the names of `refills`.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.fills import FILLS_CSS
from visualizations.components.scripts import script
from visualizations.figures.palette import css_variables
from visualizations.lesson.refill_view.refills import Cells, refills
from visualizations.text import section

HERE = Path(__file__).parent


class RefillView(gr.HTML):
    """Shows `cells`. key: the page's; its options are in the order of `refills`."""

    def __init__(self, cells: Cells, key: str, **kwargs: Any) -> None:
        choices = refills(cells)
        super().__init__(
            value={
                "key": key,
                "cells": asdict(cells),
                "choices": [asdict(choice) for choice in choices.values()],
                "names": list(choices),
            },
            html_template=(HERE / "refill_view.html").read_text("utf-8"),
            css_template=css_variables() + FILLS_CSS.read_text("utf-8") + (HERE / "refill_view.css").read_text("utf-8"),
            js_on_load=script(HERE / "refill_view.js"),
            apply_default_css=False,
            words=section("lesson.refill_view"),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
