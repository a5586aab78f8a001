"""Projector mode in Chromium: one figure alone, large, with its numbers when asked for; and a page without motion."""

from __future__ import annotations

import os
from typing import Any

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from tests.seen import faint_texts  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 90_000
expect.set_options(timeout=PATIENCE)
LEAST_PX = 24
# Texts that are seen and smaller than they may be, drawings' too.
SMALL = """(least) => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("[data-stage]"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), node = walker.currentNode.parentElement;
    const size = parseFloat(getComputedStyle(node).fontSize);
    if (text && size < least && node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !node.closest(".katex")) found.push([text, size]);
  }
  return found;
}"""
MOVING = """() => [...document.querySelectorAll("*")].flatMap((node) => ["", "::before", "::after"].map((part) => [node, getComputedStyle(node, part)]))
  .filter(([, style]) => style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0) || style.animationName !== "none")
  .map(([node]) => node.className.baseVal ?? node.className)"""


def opened(page: Page, url: str, fragment: str) -> Page:
    page.set_default_timeout(PATIENCE)
    page.goto("about:blank")
    page.goto(f"{url}#{fragment}")
    page.wait_for_function("document.documentElement.dataset.recalled")
    return page


def project(page: Page) -> None:
    page.keyboard.press("p")
    expect(page.locator("body.projector [data-stage]")).to_have_count(1)


def current_page(page: Page) -> Any:
    return page.locator(".lesson-current h2").first


def test_a_run_alone_large_and_its_numbers_when_asked_for(page: Page, app_without_models: str) -> None:
    opened(page, app_without_models, "tab=step-through&example=facts&position=2")
    page.wait_for_selector("#run-view .rv-bars .main-svg")
    before = page.locator("#run-view .rv-bars .xtick text").first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
    page.locator("#prompt textarea").press("p")
    expect(page.locator("body.projector")).to_have_count(0)
    page.evaluate("document.activeElement.blur()")
    project(page)
    for seen in (".rv-strip", ".rv-title", ".rv-coin h4", ".rv-bars"):
        expect(page.locator(f"#run-view {seen}")).to_be_visible()
    for hidden in ("#title", "#prompt", "#take-away", "[role=tablist]", ".rv-metrics", ".rv-find", ".rv-what", "footer"):
        assert page.locator(hidden).first.is_hidden(), hidden
    assert before < LEAST_PX
    page.wait_for_function("parseFloat(getComputedStyle(document.querySelector('#run-view .rv-bars .xtick text')).fontSize) >= 24")
    assert page.evaluate(SMALL, LEAST_PX) == []
    assert faint_texts(page) == []
    numbers = [page.locator(f"#run-view {one}").first for one in (".rv-sentence", ".rv-line-above", ".rv-dot", ".rv-bars .ytick text")]
    assert all(number.is_hidden() for number in numbers)
    page.keyboard.press("n")
    for number in numbers:
        expect(number).to_be_visible()
    assert page.evaluate(SMALL, LEAST_PX) == []
    at = page.locator("#run-view .rv-title").inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#run-view .rv-title")).not_to_have_text(at)
    page.keyboard.press("Escape")
    expect(page.locator("#prompt")).to_be_visible()
    assert page.locator("[data-off-stage], [data-around-stage], .projector-legend").count() == 0
    after = page.locator("#run-view .rv-bars .xtick text").first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
    assert after == before


def test_nothing_changes_on_a_frozen_screen(page: Page, app_without_models: str) -> None:
    opened(page, app_without_models, "tab=step-through&example=facts&position=2")
    page.wait_for_selector("#run-view .rv-bars .main-svg")
    page.evaluate("document.activeElement.blur()")
    project(page)
    page.wait_for_function("parseFloat(getComputedStyle(document.querySelector('#run-view .rv-bars .xtick text')).fontSize) >= 24")
    page.locator(".projector-legend button").click()
    page.keyboard.press("f")
    expect(page.locator(".projector-said")).to_have_text(t("projector.frozen"))
    page.mouse.move(5, 5)
    page.wait_for_timeout(1500)  # the keys have faded
    frozen = page.screenshot()
    page.keyboard.press("ArrowRight")
    page.evaluate("document.querySelector('#example-code').click()")  # what goes on below
    page.wait_for_function("location.hash.includes('example=code')")
    assert page.screenshot() == frozen
    page.keyboard.press("f")
    expect(page.locator(".projector-frozen")).to_have_count(0)
    assert page.screenshot() != frozen
    page.keyboard.press("p")
    expect(page.locator("#prompt")).to_be_visible()


def test_keys_turn_the_pages_of_the_lesson_and_the_sections_of_a_tab(page: Page, app_without_models: str) -> None:
    opened(page, app_without_models, "tab=lesson&page=2")
    expect(page.locator("#lesson-shell")).to_be_visible()
    page.wait_for_function("new URLSearchParams(location.hash.slice(1)).get('page') === '2'")
    second = current_page(page).inner_text()
    project(page)
    expect(page.locator("#lesson-shell")).to_be_hidden()
    page.keyboard.press("5")
    page.wait_for_function("new URLSearchParams(location.hash.slice(1)).get('page') === '5'")
    expect(current_page(page)).not_to_have_text(second)
    page.keyboard.press("PageUp")
    page.wait_for_function("new URLSearchParams(location.hash.slice(1)).get('page') === '4'")
    expect(current_page(page)).to_be_visible()
    assert page.evaluate(SMALL, LEAST_PX) == []
    page.evaluate("location.hash = 'tab=is-it-faster&section=draft-length'")
    expect(page.locator("#draft-length[data-stage]")).to_have_count(1)
    expect(page.locator("#the-race")).to_be_hidden()
    page.keyboard.press("1")
    expect(page.locator("#the-race")).to_be_visible()
    expect(page.locator("#draft-length")).to_be_hidden()
    page.keyboard.press("PageDown")
    expect(page.locator("#measured-fairly")).to_be_visible()
    expect(page.locator("#measured-fairly .rp-verdict")).to_be_hidden()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_who_asked_for_little_motion_gets_none(browser: Any, app_without_models: str, motion: str) -> None:
    context = browser.new_context(reduced_motion=motion, viewport={"width": 1280, "height": 900})
    page = opened(context.new_page(), app_without_models, "tab=is-it-faster")
    page.wait_for_selector("#race-view .ra-word")
    for tab in ("why-exact", "drafting", "lesson", "step-through"):
        page.evaluate("(tab) => { location.hash = 'tab=' + tab; }", tab)
        page.wait_for_function("(tab) => document.querySelector('[role=tab][aria-selected=true]').dataset.tabId === tab", arg=tab)
    moving = page.evaluate(MOVING)
    page.evaluate("location.hash = 'tab=is-it-faster'")
    page.locator("#race-view .ra-play").click()
    drawn = page.evaluate("""() => new Promise((told) => {
      const seen = new Set(), clock = document.querySelector("#race-view .ra-clock"), end = performance.now() + 900;
      const look = () => { // a frame that a busy machine draws late is none of that time
        if (performance.now() > end) return told(seen.size);
        seen.add(clock.textContent);
        requestAnimationFrame(look);
      };
      look();
    })""")
    if motion == "reduce":
        assert moving == [] and drawn <= 2
    else:  # the control: this finds what moves
        assert moving != [] and drawn > 2
    context.close()
