"""The row of the lesson's pages: which one is open, and how far one has come."""

from visualizations.lesson.shell.component import LessonShell

__all__ = ["LessonShell"]
