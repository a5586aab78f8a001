"""`Playground`: p_small and p_big over a few tokens as bars to drag, and everything that follows from them.

The page draws it without the server; a value goes out only when a hand lets go (the event `release`). Names
of tokens reach the page through `textContent` alone. The scripts are one program in small files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from specdec.settings import EXACT_RULES, Settings
from visualizations.components.fills import FILLS_CSS
from visualizations.components.folding import FOLD_CSS, FOLD_JS
from visualizations.components.katex import katex_files
from visualizations.components.scripts import script
from visualizations.figures import palette
from visualizations.text import section
from visualizations.why_exact.bars import MAX_NAME_LENGTH, PRESETS, RAW_DRAFT_TOP_K, preset_value

HERE = Path(__file__).parent
SCRIPTS = (
    "dom.js", "state.js", "folds.js", "laws.js", "formulas.js", "bars.js", "drag.js", "table.js", "steps.js", "flow.js",
    "rules.js", "candidate_laws.js", "candidates.js", "main.js",
)  # fmt: skip
STYLES = ("playground.css", "candidates.css")


class Playground(gr.HTML):
    """Two laws to drag. Read its value with `checked_bars`.

    Events: `release`, when a hand lets go; `load_selected`, when the bars of the run's selected token are wanted.
    """

    def __init__(self, value: dict[str, Any] | None = None, *, language: str = "en", **kwargs: Any):
        rules = Settings()
        styles = "".join((HERE / name).read_text("utf-8") for name in STYLES)
        super().__init__(
            value=value or preset_value("article"),
            html_template=(HERE / "playground.html").read_text(encoding="utf-8"),
            css_template=palette.css_variables() + styles + FILLS_CSS.read_text("utf-8") + FOLD_CSS.read_text("utf-8"),
            js_on_load=script(FOLD_JS, *(HERE / name for name in SCRIPTS)),
            apply_default_css=False,
            words=section("exact.playground", language),
            params={
                "epsilon": rules.typical_epsilon,
                "delta": rules.typical_delta,
                "lenience": rules.lenience,
                "weight": rules.target_weight,
                "k": RAW_DRAFT_TOP_K,
                "exact": list(EXACT_RULES),
                "name_length": MAX_NAME_LENGTH,
            },
            presets={key: preset_value(key) for key in PRESETS},
            katex=katex_files(),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}
