"""The race of plain against speculative decoding, replayed from its real timestamps."""

from visualizations.is_it_faster.race.component import RaceView
from visualizations.is_it_faster.race.value import race_value

__all__ = ["RaceView", "race_value"]
