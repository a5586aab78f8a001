"""A whole run on screen: tokens by round, the bars of the selected position, the coin and the sentence."""

from visualizations.step_through.run_view.component import RunView, view_parts
from visualizations.step_through.run_view.value import ShownRun, empty_value, mark_again, new_run, run_view_value

__all__ = ["RunView", "ShownRun", "empty_value", "mark_again", "new_run", "run_view_value", "view_parts"]
