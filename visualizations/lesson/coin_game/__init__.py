"""The coin as a game: predict at ten real positions whether the draft is kept."""

from visualizations.lesson.coin_game.coins import COINS, Coin, always_keep, chosen_coins, truth
from visualizations.lesson.coin_game.component import CoinGame

__all__ = ["COINS", "Coin", "CoinGame", "always_keep", "chosen_coins", "truth"]
