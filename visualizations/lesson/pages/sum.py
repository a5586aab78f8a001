"""Page 5, "Sum it up": the six steps of the argument on five tokens, with a number missing in each."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from visualizations.lesson.blanks import written_blank
from visualizations.lesson.page import Blank, Blanks, Page
from visualizations.lesson.written import TEXTS, written_page
from visualizations.text import section
from visualizations.why_exact.bars import PRESETS, UNIT, preset_value
from visualizations.why_exact.playground import Playground

KEY = "sum"
PRESET = "five"
ROUNDING = 0.006  # two decimals are enough


def sum_page() -> Page:
    """Every number follows from the preset's two laws."""
    numbers, missing = _steps(PRESET)
    shown = {name: _shown(number) for name, number in numbers.items()} | _names(PRESET)
    blanks = Blanks(tuple(_blank(step, numbers, shown, missing[step]) for step in missing))
    figure = partial(Playground, preset_value(PRESET), elem_id="lesson-playground", elem_classes="lesson-bars")
    return written_page(KEY, figure, blanks, shown)


def _blank(step: str, numbers: dict[str, Fraction], shown: dict[str, Any], missing: str) -> Blank:
    wrong = {name: float(numbers[name]) for name in section(f"{TEXTS}.{KEY}.blanks.{step}.wrong")}
    return written_blank(KEY, step, float(numbers[missing]), ROUNDING, wrong, shown)


def _shown(number: Fraction) -> str:
    """Hundredths, and a digit more where they aren't all."""
    return f"{float(number):.{2 if UNIT % number.denominator == 0 else 3}f}"


def _laws(preset: str) -> tuple[list[Fraction], list[Fraction]]:
    small, big = PRESETS[preset]
    return [Fraction(mass, UNIT) for mass in small], [Fraction(mass, UNIT) for mass in big]


def _places(preset: str) -> tuple[int, list[int]]:
    """The token that has most too much, and those that have too little."""
    small, big = _laws(preset)
    gaps = [q - p for q, p in zip(small, big)]
    return gaps.index(max(gaps)), [i for i, gap in enumerate(gaps) if gap < 0]


def _names(preset: str) -> dict[str, str]:
    much, little = _places(preset)
    return {"much": "ABCDEFGH"[much], "little": "ABCDEFGH"[little[0]], "other": "ABCDEFGH"[little[1]]}


def _steps(preset: str) -> tuple[dict[str, Fraction], dict[str, str]]:
    """The numbers of the argument, and for each step the one that is missing."""
    small, big = _laws(preset)
    much, (little, other, *_) = _places(preset)
    beta = sum((min(q, p) for q, p in zip(small, big)), Fraction(0))
    lacks = [max(p - q, Fraction(0)) for q, p in zip(small, big)]
    numbers = {
        "q_much": small[much],
        "p_much": big[much],
        "accept": big[much] / small[much],
        "beta": beta,
        "rejected": 1 - beta,
        "q_other": small[other],
        "p_other": big[other],
        "lacks_little": lacks[little],
        "lacks_other": lacks[other],
        "share": lacks[little] / (1 - beta),
        "q_little": small[little],
        "p_little": big[little],
        "unscaled": small[little] + lacks[little] / (1 - beta),
    }
    missing = {
        "draw": "q_much",
        "keep": "p_much",
        "reject": "rejected",
        "lack": "lacks_other",
        "refill": "share",
        "sum": "p_little",
    }
    return numbers, missing
