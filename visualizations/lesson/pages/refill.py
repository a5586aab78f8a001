"""Page 4, "What is left over": which law the replacement has to come from."""

from __future__ import annotations

from functools import partial

from visualizations.lesson.page import Page
from visualizations.lesson.refill_view import RefillView, refills, rejection
from visualizations.lesson.runs import recorded_run
from visualizations.lesson.written import written_choice, written_page

KEY = "refill"
RUNS = ("facts", "story")


def refill_page() -> Page:
    """The numbers are total variations of the laws that come out."""
    cells = rejection([recorded_run(key) for key in RUNS])
    choices = refills(cells)
    numbers = {name: f"{round(choice.distance, 3):g}" for name, choice in choices.items()} | {
        "beta": f"{cells.overlap_mass:.2f}",
        "missing": f"{1 - cells.overlap_mass:.2f}",
    }
    answer = written_choice(KEY, "residual", numbers)
    return written_page(KEY, partial(RefillView, cells, KEY, elem_id="lesson-refill-view"), answer, numbers)
