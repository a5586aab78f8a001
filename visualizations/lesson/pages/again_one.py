"""Page 6, "Again: counting": the acceptance rate of a few rounds, from counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from specdec.trace.record import Round, metrics_of
from visualizations.lesson.page import Page
from visualizations.lesson.runs import beginning, lesson_run, recorded_run
from visualizations.lesson.written import written_choice, written_page

KEY = "again_one"
RUN, ROUNDS = "story", 6


def again_one_page() -> Page:
    """The wrong options are what the usual mistakes give."""
    run = beginning(recorded_run(RUN), ROUNDS)
    whole = recorded_run(RUN).metrics
    numbers = counted(run.rounds, run.settings.gamma) | {
        "whole_alpha": f"{whole.acceptance_rate:.2f}",
        "whole_drafted": f"{whole.accepted_per_drafted:.2f}",
    }
    return written_page(KEY, partial(lesson_run, run, KEY, "lesson-strip"), written_choice(KEY, "tested", numbers), numbers)


def counted(rounds: Sequence[Round], drafted_each: int) -> dict[str, object]:
    """The counts of `rounds`, the acceptance rate, and what the usual mistakes take for it."""
    counts = metrics_of(rounds, 0)
    return {
        "rounds": counts.rounds,
        "drafted_each": drafted_each,
        "drafted": counts.drafted,
        "tested": counts.tested,
        "accepted": counts.accepted,
        "emitted": counts.emitted,
        "alpha": f"{counts.accepted / counts.tested:.3g}",
        "of_drafted": f"{counts.accepted / counts.drafted:.3g}",
        "of_emitted": f"{counts.emitted / counts.drafted:.3g}",
        "per_round": f"{counts.emitted / counts.rounds:.3g}",
        "discarded": counts.drafted - counts.tested,
    }
