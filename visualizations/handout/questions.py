"""The questions of a handout: some of the lesson's with its answers, some about the numbers on the sheet itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

from specdec.trace.record import metrics_of
from specdec.trace.trace import Trace
from visualizations.handout.bars import TOKENS, Bars
from visualizations.handout.numbers import FEWEST, printed, shown
from visualizations.lesson.page import Choice, Page
from visualizations.lesson.pages.again_one import counted
from visualizations.lesson.pages.faster import measured_sweep
from visualizations.lesson.pages.refill import refill_page
from visualizations.lesson.pages.waiting import waiting_page
from visualizations.lesson.written import written_choice
from visualizations.text import t

ROUNDS = 6  # whose drafts are counted
LETTERS = "abcde"


@dataclass(frozen=True)
class Asked:
    """A question. key: its blank's name; options: of a choice, in the order of their letters; why: for the teacher."""

    key: str
    task: str
    answer: str
    why: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counted:
    """Rounds in a row of a run. first: the number of the first; fates: of each round's drafts, in the order of the drafts."""

    first: int
    fates: tuple[tuple[str, ...], ...]
    question: Asked


def waiting_question(random: Random) -> Asked:
    return _of_page(waiting_page(), random)


def refill_question(random: Random) -> Asked:
    return _of_page(refill_page(), random)


def counting_question(run: Trace, random: Random) -> Counted:
    """The acceptance rate of a few rounds of the run, chosen so that no two of the lesson's options are the same."""
    starts = [start for start in range(len(run.rounds) - ROUNDS) if _tells_apart(run, start)]
    first = random.choice(starts)
    rounds = run.rounds[first : first + ROUNDS]
    numbers = counted(rounds, run.settings.gamma)
    answer = written_choice("again_one", "tested", numbers)
    question = _chosen("counting", t("lesson.pages.again_one.task", **numbers), answer, random)
    fates = tuple(tuple(_FATES[position.kind] for position in round_.positions[: round_.drafted]) for round_ in rounds)
    return Counted(first + 1, fates, question)


def target_question(bars: Bars) -> Asked:
    """What the usual mistake gives the token that both models have most of."""
    place = max(range(len(TOKENS)), key=lambda place: bars.overlap[place])
    share = bars.refilled_from(bars.big)[place]
    numbers = {
        "token": TOKENS[place],
        "overlap": shown(bars.overlap[place]),
        "rejected": shown(1 - bars.beta),
        "big": shown(bars.big[place]),
    }
    return _computed("from_target", shown(share), numbers)


def faster_question(run: Trace) -> Asked:
    """The speedup that the run's tokens per round promise on the machine where the lesson was measured."""
    costs, gamma = measured_sweep().comparison.costs, run.settings.gamma
    tokens = printed(run.metrics.tokens_per_round, FEWEST)
    c, v = printed(costs.cost_ratio, FEWEST), printed(costs.verify_ratio(gamma), FEWEST)
    numbers = {"tokens": shown(tokens, FEWEST), "gamma": gamma, "c": shown(c, FEWEST), "v": shown(v, FEWEST)}
    return _computed("faster", shown(tokens / (gamma * c + v), FEWEST), numbers)


_FATES = {"accepted": "kept", "replaced": "rejected", "discarded": "untested"}


def _tells_apart(run: Trace, start: int) -> bool:
    counts = metrics_of(run.rounds[start : start + ROUNDS], 0)
    rates = (Fraction(counts.accepted, each) for each in (counts.tested, counts.drafted))
    others = (Fraction(counts.emitted, each) for each in (counts.drafted, counts.rounds))
    return counts.accepted > 0 and len({shown(rate, FEWEST) for rate in (*rates, *others)}) == 4


def _computed(key: str, answer: str, numbers: dict[str, object]) -> Asked:
    task, why = (t(f"handout.questions.{key}.{part}", **numbers) for part in ("task", "why"))
    return Asked(key, task, answer, why)


def _of_page(page: Page, random: Random) -> Asked:
    assert isinstance(page.answer, Choice)
    return _chosen(page.key, page.task, page.answer, random)


def _chosen(key: str, task: str, answer: Choice, random: Random) -> Asked:
    options = random.sample(answer.options, len(answer.options))
    letter, right = next((letter, option) for letter, option in zip(LETTERS, options) if option.right)
    return Asked(key, task, letter, right.why, tuple(option.said for option in options))
