"""Projector mode: one figure, large enough for the back row."""
