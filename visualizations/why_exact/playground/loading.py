"""The step from the run view to the playground, on the page: the selected position as bars."""

from __future__ import annotations

import json
from pathlib import Path

from visualizations.text import section
from visualizations.why_exact.bars import MAX_NAME_LENGTH, MAX_TOKENS, MIN_TOKENS

LOADED_UNIT = 1000


def load_script() -> str:
    """A JavaScript function (playground's value) -> the playground's new value.

    The selected position is the token that the run view has marked as pressed; it carries its frame.
    """
    words = section("exact.playground")
    constants = {
        "unit": LOADED_UNIT,
        "named": MAX_TOKENS - 2,  # "all other" takes two cells
        "fewest": MIN_TOKENS,
        "longest": MAX_NAME_LENGTH,
        "other": words["other"],
        "nothing": words["nothing_else"],
        "loaded": words["preset_is"]["loaded"],
        "none": words["preset_is"]["loaded_none"],
    }
    script = (Path(__file__).parent / "load.js").read_text("utf-8")
    return f"(bars) => {{ const set = {json.dumps(constants)};\n{script} }}"
