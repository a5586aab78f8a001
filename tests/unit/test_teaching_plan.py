"""The plans for teachers: the answers in them are those of the lesson, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from visualizations.lesson.page import Blanks, Choice
from visualizations.lesson.pages import lesson_pages
from visualizations.lesson.pages.coin import RUNS, chosen_coins
from visualizations.lesson.runs import recorded_run
from visualizations.links import TABS
from visualizations.step_through.examples import examples

PLAN = (Path(__file__).parents[2] / "docs" / "teaching.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| (\d+): (.*)$", PLAN, re.M))


def test_every_page_has_a_row():
    assert list(ROWS) == [str(number) for number in range(1, len(lesson_pages()) + 1)]


@pytest.mark.parametrize(("number", "page"), list(enumerate(lesson_pages(), 1)), ids=lambda value: getattr(value, "key", value))
def test_the_answers_are_those_of_the_lesson(number, page):
    row = ROWS[str(number)]
    assert f"`#tab=lesson&page={number}`" in row
    answer = row.split(" | ")[2]
    if isinstance(page.answer, Choice):
        (right,) = (option.said for option in page.answer.options if option.right)
        assert answer == right
    elif isinstance(page.answer, Blanks):
        given = [float(number) for number in answer.split(", ")]
        assert given == pytest.approx([blank.number for blank in page.answer.blanks], abs=0.005)


def test_the_ten_coins_fall_as_told():
    coins = chosen_coins([recorded_run(key) for key in RUNS])
    assert " ".join("✓" if coin.kept else "✗" for coin in coins) in ROWS["3"]
    assert ROWS["3"].split(" | ")[2] == f"{sum(coin.kept for coin in coins)} of {len(coins)} are kept"


def test_the_links_lead_somewhere():
    assert set(re.findall(r"#tab=([\w-]+)", PLAN)) <= set(TABS)
    assert {int(page) for page in re.findall(r"&page=(\d+)", PLAN)} <= set(range(1, len(lesson_pages()) + 1))
    assert set(re.findall(r"example=(\w+)", PLAN)) <= {example.key for example in examples()}
