"""What another threshold would have cut."""

from visualizations.drafting.threshold.component import ThresholdView, threshold_value

__all__ = ["ThresholdView", "threshold_value"]
