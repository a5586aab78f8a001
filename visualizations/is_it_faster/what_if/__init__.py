"""Speedup against the draft length, with sliders for what decides it."""

from visualizations.is_it_faster.what_if.component import WhatIfView, what_if_value

__all__ = ["WhatIfView", "what_if_value"]
