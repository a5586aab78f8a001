"""The app without a server, from a file and from a web server that serves it below a path."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page as Browser  # noqa: E402

from visualizations.lesson.pages import lesson_pages  # noqa: E402
from visualizations.site import write_site  # noqa: E402
from visualizations.site.kept import EXAMPLES  # noqa: E402
from visualizations.step_through.kept_run import name_of  # noqa: E402
from visualizations.text import LANGUAGES, in_language, spoken, t  # noqa: E402

MOST_PAINT_MS = 1500 * 4  # of a machine that does other things besides
SELECTED = "#run-view .rv-token[aria-pressed=true]"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The site below a path."""
    root = tmp_path_factory.mktemp("served")
    write_site(root / "some" / "where")
    return root


@pytest.fixture(scope="module")
def from_file(folder: Path) -> str:
    return (folder / "some" / "where" / "index.html").as_uri()


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/some/where/"
        server.shutdown()


@pytest.fixture(scope="module")
def both() -> dict[str, list[str]]:
    """The titles of the lesson's pages in each language."""
    with spoken(LANGUAGES):
        titles = [page.title for page in lesson_pages()]
    return {language: [in_language(title, language) for title in titles] for language in LANGUAGES}


def opened(page: Browser, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(SELECTED, state="attached")


def to_tab(page: Browser, tab: str, part: str) -> None:
    page.click(f'[data-tab-id="{tab}"]')
    page.wait_for_selector(part)


def test_it_is_painted_soon_and_asks_for_nothing_but_its_own_files(page: Browser, from_file: str, folder: Path) -> None:
    opened(page, from_file)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print(f"first paint after {paint:.0f} ms")
    assert paint < MOST_PAINT_MS
    for tab, part in (("why-exact", "#playground .pg-column"), ("is-it-faster", "#race-view button"), ("lesson", ".lesson-current")):
        to_tab(page, tab, part)
    page.wait_for_function("window.Plotly && document.querySelector('#playground .katex')")
    base = (folder / "some" / "where").as_uri()
    assert [url for url in page.requests if not url.startswith((base, "data:", "blob:"))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_of_the_lesson_can_be_walked(page: Browser, from_file: str, both, language: str) -> None:
    opened(page, f"{from_file}?lang={language}#tab=lesson")
    page.wait_for_selector(".lesson-current .qu")
    for number, title in enumerate(both[language], 1):
        page.wait_for_function("n => document.querySelector('.ls-page[aria-current=page] b').textContent === String(n)", arg=number)
        page.wait_for_selector(".lesson-current .qu")
        assert page.locator(".lesson-current .lesson-title h2").filter(visible=True).inner_text() == title
        made = page.evaluate("[...document.querySelectorAll('.lesson-current .lesson-stage [data-part]')].every((part) => part.firstElementChild)")
        assert made, title
        assert page.evaluate("/[\\ufdd0-\\ufdd2]/.test(document.body.innerText)") is False
        if number < len(both[language]):
            page.click(".ls-next")
    assert f"page={len(both[language])}" in page.url


def test_every_recorded_run_can_be_stepped_through(page: Browser, from_file: str) -> None:
    page.add_init_script("document.addEventListener('specdec:position', ({ detail }) => { window.shownRun = detail.run; })")
    opened(page, from_file)
    seen = set()
    for button, example in EXAMPLES.items():
        page.click(f"#{button}")
        page.wait_for_function("name => window.shownRun === name", arg=name_of(example))
        tokens = page.locator("#run-view .rv-token")
        assert tokens.count() > 10
        tokens.first.click()
        before = page.locator("#run-view .rv-sentence").inner_text()
        page.keyboard.press("End")
        last = page.locator("#run-view .rv-sentence").inner_text()
        assert tokens.last.get_attribute("aria-pressed") == "true" and last != before
        seen.add(page.locator("#run-view .rv-strip").inner_text())
    assert len(seen) == len(EXAMPLES)
    assert page.locator("#run-view :is(.rv-go, .rv-pause)").filter(visible=True).count() == 0


def test_the_coin_can_be_asked_what_if_and_worst_places_follow_the_run(page: Browser, from_file: str) -> None:
    opened(page, f"{from_file}#tab=step-through&example=story&position=3")
    page.wait_for_function("location.hash.includes('position=3')")
    said = page.locator("#run-view .rv-what-said")
    before = said.inner_text()
    page.locator("#run-view .rv-what input[type=number]").fill("0.0001")
    assert said.inner_text() != before
    to_tab(page, "drafting", '[data-fold="worst"]')
    page.click('[data-fold="worst"]')
    page.locator("#worst-places button").first.click()
    page.wait_for_selector(f"{SELECTED}:visible")
    assert page.locator("#run-view .rv-metrics").inner_text() != ""


def test_bars_sliders_and_the_test_of_the_lesson_answer_without_a_server(page: Browser, served: str) -> None:
    opened(page, served)
    to_tab(page, "why-exact", "#playground .pg-column")
    column = page.locator("#playground .pg-column").first
    before = column.get_attribute("aria-valuenow")
    column.focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("before => document.querySelector('#playground .pg-column').getAttribute('aria-valuenow') !== before", arg=before)
    to_tab(page, "is-it-faster", '[data-fold="draft-length"]')
    page.click('[data-fold="draft-length"]')
    answer = page.locator("#sweep-view [aria-live]").first
    said = answer.inner_text()
    page.locator("#sweep-view input[type=range]").first.focus()
    page.keyboard.press("Home")
    assert answer.inner_text() != said
    to_tab(page, "lesson", ".lesson-current")
    page.evaluate("document.dispatchEvent(new CustomEvent('specdec:lesson', {detail: {page: 'test'}}))")
    for rule, state in (("token", "passed"), ("no_residual", "failed")):
        page.click(f"#lesson-test-{rule}")
        page.wait_for_selector(f"#lesson-test-view .sv[data-state={state}]")


def test_what_a_server_alone_can_compute_is_taken_away_in_words(page: Browser, served: str) -> None:
    opened(page, f"{served}#tab=why-exact&section=several-tokens")
    page.wait_for_selector("#today table")
    column = page.locator("#playground .pg-column").first
    column.focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("said => document.querySelector('#today').textContent.includes(said)", arg=t("site.stale"))
    assert page.locator("#today table").count() == 0


def test_the_readers_language_is_shown_and_can_be_changed(browser, from_file: str) -> None:
    context = browser.new_context(locale="zh-CN")
    page = context.new_page()
    opened(page, from_file)
    title = page.locator("#title h1").filter(visible=True)
    with spoken(["zh"]):
        assert title.inner_text() == t("app.title") == page.title()
        assert page.locator('[role="tab"]').first.inner_text() == t("app.tabs.step_through")
    page.get_by_role("button", name="English").click()
    assert title.inner_text() == t("app.title")
    context.close()


def test_a_page_of_the_lesson_stands_in_a_frame_and_tells_its_height(page: Browser, served: str, both) -> None:
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(served)
    page.evaluate(
        """address => {
          window.told = [];
          addEventListener("message", ({ data }) => { if (data.type === "specdec:height") window.told.push(data.height); });
          document.body.innerHTML = "";
          document.body.append(Object.assign(document.createElement("iframe"), { src: address, width: 375, height: 100 }));
        }""",
        f"{served}?embed=1&page=4&lang=en",
    )
    frame = page.frame_locator("iframe")
    frame.locator(".lesson-current .qu").wait_for()
    assert frame.locator(".lesson-title h2").filter(visible=True).all_inner_texts() == [both["en"][3]]
    assert frame.locator(":is(.tab-container, #title, .ls-next, .qu-next)").filter(visible=True).count() == 0
    inner = "document.querySelector('iframe').contentDocument.documentElement"
    page.wait_for_function(f"told.length && Math.abs(told.at(-1) - {inner}.querySelector('main').offsetHeight) <= 1")
    assert page.evaluate("told.at(-1)") > 400
    assert page.evaluate(f"{inner}.scrollWidth") <= 375
