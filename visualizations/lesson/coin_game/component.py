"""`CoinGame`: shows p_small and p_big of a draft, takes a prediction, drops the coin, and scores ten of them.

It dispatches the document's event `specdec:answered` with {question: "<key>.<k>", answer: 0 kept or 1 rejected, right}
for each, and after the last {question: "<key>", answer: how many were right, right: better than always keeping}.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.fills import FILLS_CSS
from visualizations.components.scripts import script
from visualizations.figures.palette import css_variables
from visualizations.lesson.coin_game.coins import Coin, always_keep, truth
from visualizations.text import section

HERE = Path(__file__).parent


class CoinGame(gr.HTML):
    """Asks about `coins`, one after the other. key: the page's."""

    def __init__(self, coins: Sequence[Coin], key: str, **kwargs: Any) -> None:
        super().__init__(
            value={
                "key": key,
                "coins": [asdict(coin) for coin in coins],
                "always": always_keep(coins),
                "truth": truth(coins),
            },
            html_template=(HERE / "coin_game.html").read_text("utf-8"),
            css_template=css_variables() + FILLS_CSS.read_text("utf-8") + (HERE / "coin_game.css").read_text("utf-8"),
            js_on_load=script(HERE / "coin_game.js"),
            apply_default_css=False,
            words=section("lesson.coin_game"),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
