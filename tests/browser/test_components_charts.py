"""Charts in Chromium: each is as wide as its box whenever it is seen, wherever the page was when its width changed."""

from __future__ import annotations

import os

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page  # noqa: E402

from tests.sections import unfold_all  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 90_000
RUN, EXACT, FASTER, DRAFTING = t("app.tabs.step_through"), t("exact.tab"), t("faster.tab"), t("drafting.tab")
# Every plot that can be seen: [width of the box, width of the drawing], px.
WIDTHS = """() => [...document.querySelectorAll('.js-plotly-plot')].filter((plot) => plot.checkVisibility() && plot.clientWidth)
  .map((plot) => [plot.clientWidth, plot.querySelector('.main-svg').getBoundingClientRect().width])"""
# The legends that lie on the plot they belong to, by the id of their chart.
MISPLACED = """() => [...document.querySelectorAll('.js-plotly-plot')].filter((plot) => plot.checkVisibility() && plot.querySelector('.legend'))
  .filter((plot) => {
    const { top, bottom } = plot.querySelector('.legend').getBoundingClientRect();
    const { t, h } = plot._fullLayout._size;
    const above = plot.getBoundingClientRect().top + t;
    return top < above + h - 2 && bottom > above + 2;
  }).map((plot) => plot.closest('.block, [id]').id || plot.className)"""
FRAME = "() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))"  # what is laid out is seen
COUNTS = {RUN: 1, EXACT: 2, FASTER: 5, DRAFTING: 8}


def width(page: Page, pixels: int) -> None:
    page.set_viewport_size({"width": pixels, "height": 900})


def show(page: Page, tab: str) -> None:
    """The tab with every section open."""
    page.get_by_role("tab", name=tab).click()
    if tab != RUN:
        unfold_all(page)


def all_drawn(page: Page, tab: str) -> None:
    """Every chart of the tab is there and fits its box within 2 px, its legend beside the plot."""
    page.wait_for_function(f"({WIDTHS})().length === {COUNTS[tab]}", timeout=PATIENCE)
    page.evaluate(FRAME)
    widths = page.evaluate(WIDTHS)
    assert [pair for pair in widths if abs(pair[0] - pair[1]) > 2] == [], widths
    assert page.evaluate(MISPLACED) == []


def test_charts_fit_after_a_change_that_they_did_not_see(page: Page, app_without_models: str) -> None:
    """Every tab drawn at one width, the page made narrow and turned while all but one are hidden."""
    page.set_default_timeout(PATIENCE)
    page.goto(app_without_models)
    all_drawn(page, RUN)
    show(page, EXACT)
    page.click("#draw-bars")
    page.wait_for_selector("#sampling .sv-passed")
    all_drawn(page, EXACT)
    for tab in (DRAFTING, FASTER):
        show(page, tab)
        all_drawn(page, tab)
    for pixels in (375, 812, 1280):
        width(page, pixels)
        all_drawn(page, FASTER)
        for tab in (RUN, EXACT, DRAFTING, FASTER):
            show(page, tab)
            all_drawn(page, tab)


def test_charts_fit_that_were_loaded_behind_another_tab(page: Page, app_without_models: str) -> None:
    """A tab is left before plotly is there, the phone turned, and the tab opened again."""
    page.set_default_timeout(PATIENCE)
    waiting = []
    page.route("**/plotly.min.js", lambda route: waiting.append(route))
    width(page, 812)
    page.goto(app_without_models)
    page.wait_for_selector("#run-view .rv-token")
    show(page, FASTER)
    page.wait_for_selector("#race-view .ra-word")
    show(page, EXACT)
    page.wait_for_selector("#playground .pg-column")
    waiting[0].continue_()
    page.wait_for_function("window.Plotly")
    width(page, 375)
    for tab in (FASTER, RUN):
        show(page, tab)
        all_drawn(page, tab)


def test_the_seconds_below_a_race_that_came_while_it_was_hidden_fit_the_page(page: Page, app_without_models: str) -> None:
    page.set_default_timeout(PATIENCE)
    width(page, 375)
    page.goto(app_without_models)
    show(page, FASTER)
    page.wait_for_selector("#race-view .ra-word")
    ticks = page.locator("#race-view .ra-axis").first.locator(".ra-tick")
    few = ticks.count()
    show(page, RUN)
    width(page, 1280)
    show(page, FASTER)
    page.wait_for_function(f"document.querySelector('#race-view .ra-axis').children.length > {few}")
