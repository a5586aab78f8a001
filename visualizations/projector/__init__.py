"""Projector mode: one figure, large enough for the back row."""

from visualizations.projector.component import PROJECTOR_CSS, Projector

__all__ = ["PROJECTOR_CSS", "Projector"]
