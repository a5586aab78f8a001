"""Pages 7 to 12 of the lesson in Chromium: their figures do what the questions ask a reader to do with them."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from visualizations.lesson.pages import faster, length, lesson_pages  # noqa: E402
from visualizations.lesson.pages.test import RULES  # noqa: E402

PAGES = {page.key: page for page in lesson_pages()[6:]}
TURN = "(page) => document.dispatchEvent(new CustomEvent('specdec:lesson', {detail: {page}}))"


@pytest.fixture(scope="module")
def lesson(shared_page, app_without_models):
    shared_page.goto(app_without_models)
    shared_page.click("#take-lesson")
    shared_page.wait_for_selector(".lesson-shell")
    return shared_page


def turn(lesson, key: str) -> None:
    lesson.evaluate(TURN, key)
    lesson.wait_for_selector(f"#lesson-{key}.lesson-current .qu-task")


def slide(slider, value: float) -> None:
    slider.evaluate("(node, value) => { node.value = value; node.dispatchEvent(new Event('input', {bubbles: true})); }", str(value))


def test_the_test_passes_with_one_button_and_fails_with_the_other(lesson):
    turn(lesson, "test")
    for rule, state in zip(RULES, ("passed", "failed")):
        lesson.dblclick(f"#lesson-test-{rule}")
        lesson.wait_for_selector(f"#lesson-test-view .sv[data-state={state}]")
        lesson.wait_for_selector("#lesson-test-view .sv-chart .main-svg")


def test_the_slider_finds_where_no_draft_pays(lesson):
    turn(lesson, "faster")
    start = faster.what_if_value(faster.measured_sweep())["start"]
    alpha, best = lesson.locator("#lesson-faster-view input[data-name=alpha]"), lesson.locator("#lesson-faster-view .wi-best")
    assert best.get_attribute("data-gamma") != "0"
    even = start["c"] + start["v"] - 1
    lesson.context.set_offline(True)  # nothing of it needs the server
    slide(alpha, round(even, 2))
    assert best.get_attribute("data-gamma") == "0"
    slide(alpha, round(even, 2) + 0.01)
    assert best.get_attribute("data-gamma") == "1"
    lesson.context.set_offline(False)


def test_the_threshold_of_each_answer_is_worth_what_the_answer_says(lesson):
    turn(lesson, "length")
    slider, said = lesson.locator("#lesson-length-view input[type=range]"), lesson.locator("#lesson-length-view .dp-answer")
    for cutting in length.candidate_thresholds(length.recorded_lengths()).values():
        slide(slider, round(cutting.threshold, 2))
        assert f"{cutting.speedup:.2f}×" in said.text_content()


def test_the_last_page_ends_with_the_words_in_both_languages(lesson):
    turn(lesson, "length")
    words = lesson.locator("#lesson-glossary tbody tr")
    assert words.count() >= 15
    assert "residual" in words.nth(7).text_content() and "残差分布" in words.nth(7).text_content()


@pytest.mark.parametrize("key", ["sets", "again_two"])
def test_right_numbers_are_right_and_a_known_mistake_gets_its_reason(lesson, key):
    turn(lesson, key)
    rows, blanks = lesson.locator(f"#lesson-question-{key} .qu-blank"), PAGES[key].answer.blanks
    mistake, reason = blanks[0].wrong[0]
    rows.nth(0).locator("input").fill(f"{mistake:.4g}")
    lesson.click(f"#lesson-question-{key} .qu-check")
    assert reason in rows.nth(0).text_content()
    for row, blank in zip(rows.all(), blanks):
        row.locator("input").fill(f"{blank.number:.2f}")
    lesson.click(f"#lesson-question-{key} .qu-check")
    assert [row.get_attribute("data-fate") for row in rows.all()] == ["right"] * len(blanks)


def test_each_page_fits_a_phone_with_its_figure(page, app_without_models):
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(app_without_models)
    page.click("#take-lesson")
    page.wait_for_selector(".lesson-shell")
    for key in PAGES:
        turn(page, key)
        if key in ("match", "sets", "faster", "length"):
            page.wait_for_selector(f"#lesson-{key} .ch-plot .main-svg")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, key
