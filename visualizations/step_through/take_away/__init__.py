"""Keeping a run: as a trace, a table, a page of its own, or a picture of the bars on screen."""

from visualizations.step_through.take_away.component import TakeAway
from visualizations.step_through.take_away.files import run_file

__all__ = ["TakeAway", "run_file"]
