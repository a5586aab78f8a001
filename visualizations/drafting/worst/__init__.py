"""The worst places of the run on screen."""

from visualizations.drafting.worst.component import WorstPlaces, worst_value

__all__ = ["WorstPlaces", "worst_value"]
