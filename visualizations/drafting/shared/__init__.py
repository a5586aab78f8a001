"""The machine shared by several texts."""

from visualizations.drafting.shared.component import SharedView, shared_value

__all__ = ["SharedView", "shared_value"]
