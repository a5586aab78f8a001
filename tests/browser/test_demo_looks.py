"""The whole page in Chromium: can its texts be read, its images heard, its focus seen, its data left untranslated?"""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page  # noqa: E402

from tests.sections import unfold_all  # noqa: E402
from tests.seen import TRANSLATED, faint_texts, focus_stops, nameless_images, texts_with  # noqa: E402
from visualizations.figures.labels import MARKS  # noqa: E402
from visualizations.step_through.examples import examples, recorded_trace  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 90_000
TABS = {"step_through": t("app.tabs.step_through"), "why_exact": t("exact.tab"), "is_it_faster": t("faster.tab"), "drafting": t("drafting.tab")}
FIRST = recorded_trace(examples()[0])


def opened(page: Page, url: str, theme: str) -> Page:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}?__theme={theme}")
    page.wait_for_selector("#run-view .main-svg")
    return page


@pytest.fixture(scope="module", params=("light", "dark"))
def themed(request: pytest.FixtureRequest, shared_page: Page, app_without_models: str) -> Page:
    return opened(shared_page, app_without_models, request.param)


@pytest.fixture(scope="module")
def translated(shared_page: Page, app_without_models: str) -> Page:
    """The page that a translator goes over, again in each tab."""
    return opened(shared_page, app_without_models, "light")


def open_tab(page: Page, tab: str) -> None:
    """The tab with all that it can show: drawn, drawn from, and unfolded."""
    page.get_by_role("tab", name=TABS[tab]).click()
    if tab == "step_through":
        page.click(".rv-watch-add")
        page.wait_for_selector(".rv-lines .main-svg")
    else:
        unfold_all(page)
    if tab == "why_exact":
        page.wait_for_selector("#acceptance table")
        page.wait_for_selector(".pg-formula .katex")
        page.click('[data-preset="loaded"]')
        page.wait_for_selector('[data-preset="loaded"][aria-pressed="true"]')
        page.click("#draw-bars")
        page.wait_for_selector("#sampling .sv-passed")
        page.wait_for_selector("#sampling .main-svg")
    if tab == "is_it_faster":
        page.wait_for_selector("#sweep-view .main-svg")
        page.wait_for_selector("#race-view .ra-word")
    if tab == "drafting":
        page.wait_for_selector("#shared-view .main-svg")
        page.wait_for_selector("#worst-places button")
    page.evaluate(
        "() => { document.querySelectorAll('button.label-wrap:not(.open)').forEach((button) => button.click());"
        " document.querySelectorAll('details').forEach((details) => { details.open = true; }); }"
    )


@pytest.mark.parametrize("tab", TABS)
def test_texts_can_be_read_images_heard_and_the_focus_seen(themed: Page, tab: str) -> None:
    page = themed
    open_tab(page, tab)
    page.wait_for_timeout(1500)  # what unfolds does so slowly
    assert faint_texts(page) == []
    assert nameless_images(page) == []
    for step in page.locator(".pg-step-button:visible").all():
        step.click()
        assert faint_texts(page) == []
    stops = focus_stops(page)
    assert len(stops) > 30
    assert {"step_through": "range", "why_exact": "slider", "is_it_faster": "textarea", "drafting": "range"}[tab] in {stop["type"] for stop in stops}
    assert [stop for stop in stops if stop["width"] < 2 or stop["contrast"] < 3] == []


def test_a_faint_text_would_be_found(page: Page) -> None:
    page.set_content("<body style='background:#fff'><p style='color:#777'>grey</p><p style='color:#767676'>darker</p>"
                     "<p style='color:#000;opacity:.4'>black, half there</p><b style='color:#888;font-size:20px'>large</b></body>")
    assert [text["text"] for text in faint_texts(page)] == ["grey", "black, half there"]


def test_a_nameless_image_would_be_found(page: Page) -> None:
    page.set_content("<svg width=9 height=9><rect width=5 height=5 /></svg><svg role=img aria-label=named width=9 height=9></svg>")
    assert len(nameless_images(page)) == 1


def test_a_page_translator_leaves_the_run_alone(translated: Page) -> None:
    page = translated
    open_tab(page, "step_through")
    page.evaluate(TRANSLATED)
    assert page.locator(".rv-title").inner_text().startswith("«")
    assert page.locator(".rv-output").evaluate("node => node.textContent") == FIRST.output.text
    for mark in MARKS.values():
        assert not [text for text in texts_with(page, mark) if "«" in text]
    for place in (".rv-token .rv-label", ".rv-fed", ".rv-residual-label", ".rv-bars .xtick text"):
        texts = page.locator(place).all_text_contents()
        assert texts and not [text for text in texts if "«" in text], place
    token = next(place for place in FIRST.rounds[0].positions if place.kind == "accepted").text.strip()
    page.locator(".rv-token").first.click()
    page.evaluate(TRANSLATED)
    data = page.locator(".rv-sentence [translate=no]").all_text_contents()
    assert data and all(token in text for text in data)
    assert page.locator(".rv-sentence").inner_text().count("«") > 1


def test_a_page_translator_leaves_the_loaded_tokens_alone(translated: Page) -> None:
    page = translated
    open_tab(page, "why_exact")
    page.click('.pg-step-button[data-step="1"]')
    page.evaluate(TRANSLATED)
    marked = texts_with(page, "␣")
    assert len(marked) > 20 and not [text for text in marked if "«" in text]
    for place in (".pg-name", ".pg-row-name", ".pg-law-bar em", ".pg-flow-label", "#sampling .sv-chart:first-child .xtick text", "#acceptance bdi"):
        texts = page.locator(place).all_text_contents()
        assert texts and not [text for text in texts if "«" in text], place
    assert page.locator(".pg-badge").first.inner_text().startswith("«")


def test_a_page_translator_leaves_the_race_alone(translated: Page) -> None:
    page = translated
    open_tab(page, "is_it_faster")
    texts = page.locator("#race-view .ra-text").all_text_contents()
    page.evaluate(TRANSLATED)
    assert page.locator("#race-view .ra-text").all_text_contents() == texts and all(texts)
    prompts = page.locator("#measure-report tbody th[scope=row] bdi").all_text_contents()
    assert len(prompts) >= 3 and not [text for text in prompts if "«" in text]
    assert page.locator("#race-view .ra-line").inner_text().startswith("«")


def test_a_page_translator_leaves_the_worst_places_alone(translated: Page) -> None:
    page = translated
    open_tab(page, "drafting")
    labels = page.locator("#worst-places bdi").all_text_contents()
    page.evaluate(TRANSLATED)
    assert page.locator("#worst-places bdi").all_text_contents() == labels and any("␣" in label for label in labels)
    assert page.locator("#worst-places small").first.inner_text().startswith("«")
