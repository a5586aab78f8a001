"""Page 2, "Guess ahead, check once": what one round of a recorded run gave."""

from __future__ import annotations

from functools import partial

from specdec.trace.record import Round
from visualizations.lesson.page import Page
from visualizations.lesson.runs import beginning, lesson_run, recorded_run
from visualizations.lesson.written import written_choice, written_page

KEY = "guess"
RUN = "facts"


def guess_page() -> Page:
    """The round is the first that kept two drafts or more and discarded one; the figure ends with the first round
    after it that kept them all."""
    run = recorded_run(RUN)
    number = next(n for n, round_ in enumerate(run.rounds) if _shows_all_fates(round_))
    last = next(n for n, round_ in enumerate(run.rounds) if n > number and round_.accepted == round_.drafted)
    asked, full = run.rounds[number], run.rounds[last]
    numbers = {
        "round": number + 1,
        "drafted": asked.drafted,
        "tested": asked.tested,
        "accepted": asked.accepted,
        "emitted": asked.emitted,
        "most": asked.drafted + 1,
        "discarded": asked.drafted - asked.tested,
        "full_round": last + 1,
        "full": full.emitted,
    }
    figure = partial(lesson_run, beginning(run, last + 1), KEY, "lesson-walk")
    return written_page(KEY, figure, written_choice(KEY, "emitted", numbers), numbers)


def _shows_all_fates(round_: Round) -> bool:
    return 2 <= round_.accepted < round_.tested < round_.drafted
