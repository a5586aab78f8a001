"""Two laws over a few tokens to drag, the argument in six steps, the mass flow and every rule's law."""

from visualizations.why_exact.playground.component import Playground

__all__ = ["Playground"]
