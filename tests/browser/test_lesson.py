"""The lesson in Chromium: its pages are turned, answered and opened again, and no server hears of it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page as Browser  # noqa: E402

from tests.launched import launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.no_lane import no_lane  # noqa: E402
from tests.seen import faint_texts, nameless_images  # noqa: E402
from visualizations.lesson.coin_game import COINS, always_keep, chosen_coins, truth  # noqa: E402
from visualizations.lesson.page import Blanks, Choice, Page  # noqa: E402
from visualizations.lesson.pages import coin, lesson_pages  # noqa: E402
from visualizations.lesson.runs import recorded_run  # noqa: E402
from visualizations.text import t  # noqa: E402

PAGES = lesson_pages()
NUMBERS = {page.key: number for number, page in enumerate(PAGES, 1)}
OURS = {"specdec:lesson", "specdec:lesson-page", "specdec:answered", "specdec:revealed"}

# Every event that one part of the page sends to the others, as [name, detail].
LISTEN = """
  window.told = [];
  const send = document.dispatchEvent.bind(document);
  document.dispatchEvent = (event) => {
    if (event.type.startsWith("specdec:")) window.told.push([event.type, event.detail]);
    return send(event);
  };
"""


@pytest.fixture(scope="module")
def lesson(shared_page: Browser, table_pair) -> Iterator[Browser]:
    """The lesson open on its first page, when nothing else on the page asks the server any more."""
    with launched(only(table_pair([0.5, 0.3, 0.2], [0.3, 0.4, 0.3]))) as url:
        no_lane(shared_page)
        shared_page.add_init_script(LISTEN)
        opened(shared_page, url)
        yield shared_page


def opened(page: Browser, url: str) -> None:
    page.goto(url.partition("#")[0])  # another fragment alone would load nothing
    until_loaded(page)
    page.click("#take-lesson")
    page.wait_for_selector(".lesson-current .qu")


def go_to(page: Browser, key: str) -> None:
    page.locator(".ls-page").nth(NUMBERS[key] - 1).click()
    page.wait_for_selector(f"#lesson-{key}.lesson-current .qu")


def told(page: Browser, name: str) -> list[dict]:
    """What was told under a name since the last time."""
    events = page.evaluate("() => window.told.splice(0)")
    return [detail for event, detail in events if event == name]


def asked_server(page: Browser) -> list[str]:
    return [url for url in page.requests if any(part in url for part in ("/run/", "/queue/", "/call/", "component_server"))]


def question(page: Browser, key: str):
    return page.locator(f"#lesson-question-{key}")


def mark(page: Browser, key: str) -> str:
    return page.locator(".ls-page").nth(NUMBERS[key] - 1).get_attribute("data-mark")


def test_next_leads_through_all_pages_and_asks_no_server(lesson):
    before = asked_server(lesson)
    for page in PAGES:
        lesson.wait_for_selector(f"#lesson-{page.key}.lesson-current .qu")
        assert lesson.locator(".lesson-page:visible").count() == 1
        assert lesson.locator(f"#lesson-{page.key} h2").inner_text() == page.title
        assert lesson.locator(".ls-place").inner_text() == t(
            "lesson.shell.place", page=NUMBERS[page.key], pages=len(PAGES)
        )
        if page is not PAGES[-1]:
            lesson.click(".ls-next")
    assert lesson.locator(".ls-next").is_disabled()
    assert asked_server(lesson) == before


def test_any_page_may_be_opened_at_any_time(lesson):
    told(lesson, "")
    for page in (PAGES[-1], PAGES[0], PAGES[len(PAGES) // 2]):
        go_to(lesson, page.key)
    lesson.click(".ls-back")
    wanted = [PAGES[-1], PAGES[0], PAGES[len(PAGES) // 2], PAGES[len(PAGES) // 2 - 1]]
    turned = [{"page": NUMBERS[page.key], "key": page.key} for page in wanted]
    assert told(lesson, "specdec:lesson-page") == turned


@pytest.mark.parametrize("named", [2, PAGES[1].key])
def test_other_parts_may_turn_the_page(lesson, named):
    go_to(lesson, PAGES[0].key)
    turn = "(page) => document.dispatchEvent(new CustomEvent('specdec:lesson', { detail: { page } }))"
    for wrong in (0, 99, 1.5, "nowhere", None):
        lesson.evaluate(turn, wrong)
        assert lesson.locator(".ls-place").inner_text() == t("lesson.shell.place", page=1, pages=len(PAGES))
    lesson.evaluate(turn, named)
    lesson.wait_for_selector(f"#lesson-{PAGES[1].key}.lesson-current")


@pytest.mark.parametrize("page", [page for page in PAGES if isinstance(page.answer, Choice)], ids=lambda page: page.key)
def test_every_option_is_answered_with_its_reason(lesson, page: Page):
    go_to(lesson, page.key)
    asks = question(lesson, page.key)
    assert asks.locator(".qu-said").is_hidden()
    told(lesson, "")
    options = sorted(enumerate(page.answer.options), key=lambda option: option[1].right)  # the right one last
    for index, option in options:
        asks.locator(".qu-option").nth(index).click()
        assert asks.locator(".qu-option").nth(index).get_attribute("data-fate") == ("right" if option.right else "wrong")
        assert option.why in asks.locator(".qu-verdict").inner_text()
        assert asks.locator(".qu-reason").inner_text() == page.reason
        (right,) = [one.said for one in page.answer.options if one.right]
        assert asks.locator(".qu-right").inner_text() == ("" if option.right else t("lesson.question.right_is", answer=right))
        assert mark(lesson, page.key) == ("right" if option.right else "tried")
    wanted = [{"question": page.key, "answer": index, "right": option.right} for index, option in options]
    assert told(lesson, "specdec:answered") == wanted
    asks.locator(".qu-option").nth(options[0][0]).click()
    assert mark(lesson, page.key) == "right"  # and stays so
    asks.locator(".qu-again").click()
    assert asks.locator(".qu-said").is_hidden() and asks.locator(".qu-option[data-fate=right]").count() == 0


@pytest.mark.parametrize("page", [page for page in PAGES if isinstance(page.answer, Blanks)], ids=lambda page: page.key)
def test_numbers_are_judged_one_by_one(lesson, page: Page):
    go_to(lesson, page.key)
    asks = question(lesson, page.key)
    boxes, blanks = asks.locator("input"), page.answer.blanks
    mistake, reason = blanks[0].wrong[0]
    boxes.first.fill(f"{mistake:.4g}")
    told(lesson, "")
    asks.locator(".qu-check").click()
    assert reason in asks.locator(".qu-blank-said").first.inner_text()
    assert asks.locator(".qu-blank[data-fate]:not([data-fate=''])").count() == 1  # what is empty isn't judged
    assert mark(lesson, page.key) == "tried"
    first = told(lesson, "specdec:answered")
    assert first[-1]["question"] == page.key and not first[-1]["right"]
    for i, blank in enumerate(blanks):
        boxes.nth(i).fill(f"{blank.number:.2f}")
    boxes.last.press("Enter")
    answered = told(lesson, "specdec:answered")
    assert all(one["right"] for one in answered) and answered[-1]["question"] == page.key
    if len(blanks) > 1:
        assert [one["question"] for one in answered[:-1]] == [f"{page.key}.{i}" for i in range(len(blanks))]
    assert asks.locator(".qu-reason").inner_text() == page.reason and mark(lesson, page.key) == "right"
    asks.locator(".qu-again").click()
    assert boxes.first.input_value() == ""


def test_an_answer_may_be_shown_unasked(lesson):
    page = next(page for page in PAGES if isinstance(page.answer, Choice))
    go_to(lesson, page.key)
    told(lesson, "")
    asks = question(lesson, page.key)
    asks.locator(".qu-show").click()
    assert asks.locator(".qu-option[data-fate=right]").count() == 1 and asks.locator(".qu-verdict").inner_text() == ""
    assert asks.locator(".qu-reason").inner_text() == page.reason
    events = lesson.evaluate("() => window.told.splice(0)")
    assert events == [["specdec:revealed", {"question": page.key}]]
    asks.locator(".qu-again").click()


def test_what_people_ask_unfolds(lesson):
    for page in PAGES:
        go_to(lesson, page.key)
        boxes = question(lesson, page.key).locator("details")
        assert boxes.count() == len(page.asked)
        for i, asked in enumerate(page.asked):
            boxes.nth(i).locator("summary").press("Enter")
            assert boxes.nth(i).locator("summary").inner_text() == asked.question
            assert boxes.nth(i).locator("p").inner_text() == asked.answer and boxes.nth(i).locator("p").is_visible()


def test_ten_coins_are_predicted_and_scored(lesson):
    go_to(lesson, "coin")
    coins = chosen_coins([recorded_run(key) for key in coin.RUNS])
    game = lesson.locator("#lesson-coins")
    told(lesson, "")
    for k, one in enumerate(coins):
        assert game.locator(".cg-draft").text_content() == one.draft
        assert game.locator(".cg-line-box").is_hidden()  # nothing of the coin before the prediction
        game.locator("input[type=range]").fill("100" if one.kept else "50")
        game.locator(".cg-keep").click()
        assert game.locator(".cg-dot").evaluate("dot => parseFloat(dot.style.left)") == pytest.approx(100 * one.coin, abs=1e-3)
        if one.instead:
            assert one.instead in game.locator(".cg-said").inner_text()
        game.locator(".cg-next").click()
        assert told(lesson, "specdec:answered")[0] == {"question": f"coin.{k}", "answer": 0, "right": one.kept}
    scores = [float(score) for score in game.locator("td").all_inner_texts()]
    rejected = COINS - sum(one.kept for one in coins)
    assert scores == pytest.approx([0.25 * rejected / COINS, always_keep(coins), truth(coins)], abs=6e-4)
    assert mark(lesson, "coin") == "right"
    assert question(lesson, "coin").locator(".qu-reason").inner_text() == PAGES[NUMBERS["coin"] - 1].reason
    game.locator(".cg-anew").click()
    assert game.locator(".cg-draft").text_content() == coins[0].draft and game.locator(".cg-score").is_hidden()


def test_the_refilled_bars_end_at_their_frames_for_the_residual_alone(lesson):
    go_to(lesson, "refill")
    bars = """() => [...document.querySelectorAll("#lesson-refill-view .rf-stack")].map((stack) => {
      const height = (node) => parseFloat(node.style.height);
      return Math.abs([...stack.querySelectorAll("i")].map(height).reduce((a, b) => a + b) - height(stack.querySelector("b")));
    })"""
    options = question(lesson, "refill").locator(".qu-option")
    (page,) = [page for page in PAGES if page.key == "refill"]
    for i, option in enumerate(page.answer.options):
        options.nth(i).click()
        assert (max(lesson.evaluate(bars)) < 0.01) == option.right
    assert lesson.locator("#lesson-refill-view .rf-tried li").count() == options.count()


def test_a_run_of_the_lesson_concerns_no_other_part_of_the_page(lesson):
    go_to(lesson, "guess")
    kept = lesson.evaluate("() => sessionStorage.getItem('specdec/run')")
    told(lesson, "")
    strip = lesson.locator("#lesson-guess-run .rv-token")
    strip.last.click()
    lesson.evaluate("() => document.dispatchEvent(new CustomEvent('specdec:choose', { detail: 0 }))")
    lesson.wait_for_timeout(100)
    assert strip.last.get_attribute("aria-pressed") == "true"
    assert {name for name, _ in lesson.evaluate("() => window.told")} <= OURS | {"specdec:choose"}
    assert lesson.evaluate("() => sessionStorage.getItem('specdec/run')") == kept
    assert lesson.locator("#lesson-guess-run .rv-go:visible").count() == 0


def test_progress_outlives_a_reload(lesson):
    go_to(lesson, "guess")
    marks = {page.key: mark(lesson, page.key) for page in PAGES}
    assert "right" in marks.values()
    opened(lesson, lesson.url)
    lesson.wait_for_selector("#lesson-guess.lesson-current")
    assert {page.key: mark(lesson, page.key) for page in PAGES} == marks
    assert lesson.locator(".lesson-page").count() == 1  # the others are made when they are opened


def test_a_covered_figure_appears_with_the_answer(lesson):
    (page,) = [page for page in PAGES if page.covered]
    go_to(lesson, page.key)
    column = lesson.locator(f"#lesson-{page.key}")
    assert column.locator(".lesson-cover").is_visible() and column.locator(".ch").is_hidden()
    question(lesson, page.key).locator(".qu-option").first.click()
    assert column.locator(".lesson-cover").is_hidden()
    column.locator(".main-svg").first.wait_for()  # it is drawn once its box has a width


@pytest.mark.parametrize("theme, width", [("light", 1280), ("dark", 375)])
def test_pages_can_be_read_and_fit(lesson, theme, width):
    lesson.set_viewport_size({"width": width, "height": 800})
    opened(lesson, f"{lesson.url.partition('?')[0]}?__theme={theme}")
    for page in PAGES:
        go_to(lesson, page.key)
        show = question(lesson, page.key).locator(".qu-show")
        if show.is_visible():
            show.click()
        lesson.wait_for_timeout(600)
        assert lesson.evaluate("document.documentElement.scrollWidth") <= width, page.key
        assert faint_texts(lesson) == [], page.key
        assert nameless_images(lesson) == [], page.key
    tabs = lesson.get_by_role("tab")
    assert [tab.is_visible() for tab in tabs.all()] == [True] * 5
