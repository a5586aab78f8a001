"""The cover on a figure that would show the answer before one has predicted it."""

from visualizations.lesson.cover.component import Cover

__all__ = ["Cover"]
