"""A sampling test on screen: its verdict in words, and two charts that grow with the draws."""

from visualizations.why_exact.sampling_view.component import SamplingView, sampling_value, waiting_value

__all__ = ["SamplingView", "sampling_value", "waiting_value"]
