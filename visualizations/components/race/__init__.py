"""The race of plain against speculative decoding, replayed from its real timestamps."""

from visualizations.components.race.component import RaceView
from visualizations.components.race.value import race_value

__all__ = ["RaceView", "race_value"]
