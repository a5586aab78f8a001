"""Page 3, "The coin": kept or rejected, at ten positions of recorded runs."""

from __future__ import annotations

from visualizations.lesson.coin_game import COINS, CoinGame, always_keep, chosen_coins, truth
from visualizations.lesson.page import Page
from visualizations.lesson.runs import recorded_run
from visualizations.lesson.written import written_page

KEY = "coin"
RUNS = ("facts", "story")


def coin_page() -> Page:
    """The game asks and judges; the page says what the ten are and how the score is to be read."""
    coins = chosen_coins([recorded_run(key) for key in RUNS])
    numbers = {
        "coins": COINS,
        "kept": sum(coin.kept for coin in coins),
        "always": f"{always_keep(coins):.2f}",
        "truth": f"{truth(coins):.2f}",
    }
    return written_page(KEY, lambda: CoinGame(coins, KEY, elem_id="lesson-coins"), None, numbers)
