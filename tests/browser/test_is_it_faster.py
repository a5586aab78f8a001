"""The tab "Is it faster?" in Chromium: replay, sliders, a live race, Stop, bad input, a phone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from specdec.exactness.theory import best_gamma  # noqa: E402
from specdec.models.pairs import Pair  # noqa: E402
from tests.launched import launched_with  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.made_timings import made_comparison, made_costs, made_race, made_roofline, made_sweep  # noqa: E402
from tests.sections import open_section  # noqa: E402
from visualizations.is_it_faster import tab as the_tab  # noqa: E402
from visualizations.is_it_faster.records import Recorded  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 90_000
SECTIONS = ("measured-fairly", "time-spent", "why-possible", "draft-length")  # folded


@pytest.fixture(scope="module")
def app_url(default_pair: Pair) -> Iterator[str]:
    made = Recorded(made_race(), made_comparison(), made_costs(), made_roofline(), made_sweep())
    with launched_with(made, the_tab, default_pair) as url:
        yield url


def open_tab(page: Page, url: str) -> Page:
    """The tab, filled with the records; on a narrow page it is behind the button for more tabs."""
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    tab = page.get_by_role("tab", name=t("faster.tab"))
    more = page.locator(".overflow-menu > button").first
    page.locator(".tab-container button").first.wait_for()
    page.wait_for_timeout(1000)  # the bar decides what fits once its fonts are there
    if tab.is_visible():
        tab.click()
    else:
        more.click()
        page.locator(".overflow-dropdown button", has_text=t("faster.tab")).click()
    expect(page.locator("#race-view .ra-line")).to_contain_text("measured ratio 1.33", timeout=PATIENCE)
    until_loaded(page)
    for section in SECTIONS:
        open_section(page, section)
    expect(page.locator("#sweep-view .js-plotly-plot")).to_be_visible(timeout=PATIENCE)
    return page


@pytest.fixture(scope="module")
def open_for_all(shared_page: Page, app_url: str) -> Page:
    return open_tab(shared_page, app_url)


@pytest.fixture
def opened(open_for_all: Page) -> Page:
    """The tab with its sliders and its recorded race as they are when it is opened; what is typed into it may differ."""
    page = open_for_all
    page.get_by_label(t("faster.sweep.published")).uncheck()
    page.get_by_role("button", name=t("faster.sweep.reset")).click()
    page.get_by_label(t("faster.race.scrub")).press("End")
    zoom = page.get_by_role("button", name=t("faster.race.zoom"))
    if zoom.get_attribute("aria-pressed") == "true":
        zoom.click()
    return page


def slide(page: Page, name: str, value: float) -> None:
    page.locator(f"#sweep-view input[data-name={name}]").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input', {bubbles: true})); }", str(value)
    )


def test_the_race_replays_slowed_and_asks_for_nothing(opened: Page) -> None:
    race = opened.locator("#race-view")
    race.get_by_role("button", name=t("faster.race.speed_name", speed="1/10×")).click()
    before = list(opened.requests)
    race.get_by_role("button", name=t("faster.race.play")).click()
    expect(race.get_by_role("button", name=t("faster.race.pause"))).to_be_visible()
    expect(race.locator(".ra-later").first).to_be_attached()
    race.get_by_role("button", name=t("faster.race.pause")).click()
    early = race.locator(".ra-clock").inner_text()
    assert early != "0.24 s / 0.24 s"
    race.get_by_role("button", name=t("faster.race.play")).click()
    expect(race.locator(".ra-clock")).to_have_text("0.24 s / 0.24 s", timeout=PATIENCE)
    expect(race.locator(".ra-later")).to_have_count(0)
    assert opened.requests == before


def test_the_race_is_scrubbed_with_the_keyboard_and_every_token_is_text(opened: Page) -> None:
    race = opened.locator("#race-view")
    scrub = race.get_by_label(t("faster.race.scrub"))
    before = list(opened.requests)
    scrub.press("Home")
    expect(race.locator(".ra-clock")).to_contain_text("0.00 s /")
    expect(race.locator(".ra-word:not(.ra-later)")).to_have_count(0)
    scrub.press("End")
    counts = race.locator(".ra-count").all_inner_texts()
    assert counts[0].startswith("12 tokens · 50.0 tok/s") and counts[1].startswith("12 tokens · 66.7 tok/s")
    assert "<b>blue</b> ${x}" in race.locator(".ra-text").first.inner_text()
    assert race.locator(".ra-text b").count() == 0
    assert race.locator(".ra-cell-rejected[style]").count() == 6
    race.get_by_role("button", name=t("faster.race.zoom")).click()
    expect(race.get_by_role("button", name=t("faster.race.zoom"))).to_have_attribute("aria-pressed", "true")
    assert opened.requests == before


@pytest.mark.parametrize(("alpha", "c", "v"), [(0.7, 0.05, 1.0), (0.9, 0.1, 1.0), (0.5, 0.5, 1.0), (0.97, 0.01, 1.2), (0.3, 0.6, 1.0)])
def test_the_sliders_move_the_prediction_as_the_theory_has_it(opened: Page, alpha: float, c: float, v: float) -> None:
    before = list(opened.requests)
    for name, value in (("alpha", alpha), ("c", c), ("v", v)):
        slide(opened, name, value)
    gamma, speedup = best_gamma(alpha, c, v)
    best = opened.locator("#sweep-view .wi-best")
    expect(best).to_have_attribute("data-gamma", str(gamma))
    if gamma:
        expect(best).to_contain_text(f"γ = {gamma}: {speedup:.2f}×")
    drawn = opened.evaluate("() => { const d = document.querySelector('#sweep-view .ch-plot').data; return [d[4].x[0], d[4].y[0]]; }")
    assert drawn == [gamma, pytest.approx(speedup)]
    assert opened.requests == before


def test_published_results_are_a_layer_and_reset_goes_back(opened: Page) -> None:
    before = list(opened.requests)
    slide(opened, "alpha", 0.2)
    opened.get_by_label(t("faster.sweep.published")).check()
    expect(opened.locator("#sweep-view .wi-source")).to_contain_text("2211.17192")
    assert opened.evaluate("() => document.querySelector('#sweep-view .ch-plot').data.slice(5).every((d) => d.visible)")
    opened.get_by_role("button", name=t("faster.sweep.reset")).click()
    expect(opened.locator("#sweep-view .wi-value").first).to_have_text("0.80")
    assert opened.requests == before


def test_every_figure_is_drawn_and_named(opened: Page) -> None:
    for name in ("time", "pass", "rate", "roofline"):
        chart = opened.locator(f"#{name}-chart .ch-plot")
        expect(chart).to_be_visible()
        assert len(chart.get_attribute("aria-label") or "") > 40
    expect(opened.locator("#measure-report .rp-verdict")).to_contain_text("Faster here: 1.11×")
    assert opened.locator("#measure-report b, #measure-report i").count() == 0  # text stays text


def test_bad_input_is_refused_in_a_sentence(opened: Page) -> None:
    opened.fill("#race-prompt textarea", "")
    opened.click("#race-run")
    expect(opened.locator("#race-line")).to_contain_text("prompt is empty")
    for box in opened.locator("#timing-prompts input").all():
        box.uncheck()
    opened.click("#measure-run")
    expect(opened.locator("#measure-line")).to_contain_text("prompts must be one or more of")
    expect(opened.locator("#measure-report .rp-verdict")).to_contain_text("Faster here: 1.11×")


def test_a_race_runs_live_and_stop_frees_the_models(page: Page, app_url: str) -> None:
    opened = open_tab(page, app_url)
    opened.locator("#timing-settings button").first.click()
    box = opened.locator("#timing-max_new_tokens input[type=number]")
    box.fill("16")
    box.press("Tab")
    opened.fill("#race-prompt textarea", "Say <b>hello</b> ${x}")
    opened.click("#race-run")
    expect(opened.locator("#race-line")).to_contain_text("one lane after the other", timeout=PATIENCE)
    expect(opened.locator("#race-line")).to_contain_text("Finished", timeout=PATIENCE)
    expect(opened.locator("#race-view .ra-line")).to_contain_text("one run, a picture, not a measurement")
    opened.click("#race-run")
    expect(opened.locator("#race-line")).to_contain_text("Now: Plain", timeout=PATIENCE)
    opened.click("#race-stop")
    expect(opened.locator("#race-line")).to_contain_text(t("measuring.stopped"))
    expect(opened.locator("#race-view .ra-play")).to_be_enabled()
    opened.click("#measure-run")
    expect(opened.locator("#measure-line")).to_contain_text(t("measuring.warming"), timeout=PATIENCE)
    opened.click("#measure-stop")
    expect(opened.locator("#measure-line")).to_contain_text(t("measuring.stopped"))
    opened.click("#race-run")  # what was stopped lets go of the models
    expect(opened.locator("#race-line")).to_contain_text("Now: Plain", timeout=PATIENCE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(page: Page, app_url: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 375, "height": 800})
    open_tab(page, app_url)
    page.locator("#timing-settings button").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
