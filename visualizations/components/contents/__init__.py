"""The contents line of a tab."""

from visualizations.components.contents.component import Contents

__all__ = ["Contents"]
