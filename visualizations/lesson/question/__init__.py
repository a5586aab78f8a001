"""A page's question: its answers, the reasons for them, and what people ask about it."""

from visualizations.lesson.question.component import Question

__all__ = ["Question"]
