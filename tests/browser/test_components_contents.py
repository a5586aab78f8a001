"""The dense tabs in Chromium: short until something is opened, a contents line that leads everywhere, results in sight."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from specdec.timing.policies import cut_round  # noqa: E402
from tests.launched import launched, only  # noqa: E402
from tests.sections import head_of, link_to, open_section, result_of, unfold_all  # noqa: E402
from visualizations.drafting.records import recorded as recorded_drafting  # noqa: E402
from visualizations.drafting.tab import TAB_KEY as DRAFTING  # noqa: E402
from visualizations.is_it_faster.records import recorded as recorded_timings  # noqa: E402
from visualizations.is_it_faster.tab import RECORDED_WAY  # noqa: E402
from visualizations.is_it_faster.tab import TAB_KEY as FASTER  # noqa: E402
from visualizations.step_through.examples import examples, recorded_trace  # noqa: E402
from visualizations.text import section, t  # noqa: E402
from visualizations.why_exact.tab import TAB_KEY as EXACT  # noqa: E402

PATIENCE = 90_000
WORDS = {EXACT: "exact", FASTER: "faster", DRAFTING: "drafting"}
NAMES = {tab: t(f"{words}.tab") for tab, words in WORDS.items()}
SECTIONS = {tab: tuple(section(f"{words}.contents")) for tab, words in WORDS.items()}
MOST_HEIGHT = {1280: 2000, 375: 3600}  # px, before anything is opened
FILLED = {EXACT: "several-tokens", FASTER: "draft-length", DRAFTING: "worst"}  # whose result the server sends
DRAWN = {EXACT: ".pg-formula .katex", FASTER: "#race-view .ra-word", DRAFTING: "#columns-view .main-svg"}
LAWS = [[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]


@pytest.fixture(scope="module")
def app_url(table_pair) -> Iterator[str]:
    """The app with its own records, and models that are small tables."""
    with launched(only(table_pair(LAWS, LAWS[::-1]))) as url:
        yield url


@pytest.fixture
def opened(page: Page, app_url: str) -> Page:
    page.set_default_timeout(PATIENCE)
    page.goto(app_url)
    return page


def open_tab(page: Page, tab: str) -> Page:
    page.get_by_role("tab", name=NAMES[tab]).click()
    expect(result_of(page, FILLED[tab])).not_to_be_empty(timeout=PATIENCE)
    page.wait_for_selector(DRAWN[tab])
    return page


def shown_line(page: Page) -> dict[str, float]:
    return page.locator(".contents:visible").bounding_box()


@pytest.mark.parametrize("width", MOST_HEIGHT)
def test_the_tabs_are_short_and_lead_to_every_section(page: Page, app_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.set_default_timeout(PATIENCE)
    page.goto(app_url)
    for tab, sections in SECTIONS.items():
        open_tab(page, tab)
        page.evaluate("scrollTo(0, 0)")
        assert page.evaluate("document.documentElement.scrollHeight") <= MOST_HEIGHT[width]
        for name in sections:
            link = link_to(page, name)
            assert link.get_attribute("href") == f"#tab={tab}&section={name}"
            link.click()
            head = head_of(page, name)
            if head.count():
                expect(head).to_have_attribute("aria-expanded", "true")
            expect(link).to_have_attribute("aria-current", "location")
            expect(page.locator("[aria-current=location]:visible")).to_have_count(1)
            assert page.evaluate("location.hash") == f"#tab={tab}&section={name}"
            page.wait_for_function(
                """(name) => {
                  const top = document.getElementById(name).getBoundingClientRect().top;
                  const line = [...document.querySelectorAll('.contents')].find((one) => one.clientWidth).getBoundingClientRect();
                  const atEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
                  return top >= line.bottom && (top < line.bottom + 40 || atEnd && top < innerHeight);
                }""",
                arg=name,
            )
            assert link.is_visible() and shown_line(page)["y"] >= 0
            assert shown_line(page)["x"] <= link.bounding_box()["x"] < width
        unfold_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert shown_line(page)["height"] < 60


def test_the_line_stays_in_view_and_marks_what_is_read(opened: Page) -> None:
    open_tab(opened, DRAFTING)
    unfold_all(opened)
    opened.evaluate("scrollTo(0, 0)")
    opened.wait_for_function("() => document.querySelector('.contents:has(a[href*=drafting]) a').hasAttribute('aria-current')")
    seen = {opened.locator(".contents:visible [aria-current]").inner_text()}
    opened.mouse.move(640, 450)
    while opened.evaluate("scrollY + innerHeight < document.documentElement.scrollHeight - 2"):
        opened.mouse.wheel(0, 200)
        opened.wait_for_timeout(120)
        seen.add(opened.locator(".contents:visible [aria-current]").inner_text())
        if opened.evaluate("scrollY") > 400:
            assert shown_line(opened)["y"] == 0
    assert seen == set(section("drafting.contents").values())


def test_another_script_leads_to_a_section_and_an_address_opens_one(page: Page, app_url: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(app_url + f"#tab={FASTER}&section=time-spent")
    open_tab(page, FASTER)
    expect(head_of(page, "time-spent")).to_have_attribute("aria-expanded", "true")
    expect(head_of(page, "draft-length")).to_have_attribute("aria-expanded", "false")
    page.evaluate("document.dispatchEvent(new CustomEvent('specdec:section', {detail: {id: 'draft-length'}}))")
    expect(head_of(page, "draft-length")).to_be_in_viewport()
    expect(head_of(page, "draft-length")).to_be_focused()
    expect(page.locator("#sweep-view .main-svg").first).to_be_visible()
    page.evaluate("document.dispatchEvent(new CustomEvent('specdec:section', {detail: {id: 'title'}}))")  # of no tab
    expect(link_to(page, "draft-length")).to_have_attribute("aria-current", "location")


def test_the_heads_hold_the_recorded_numbers(opened: Page) -> None:
    open_tab(opened, FASTER)
    timings, drafting = recorded_timings(), recorded_drafting()
    way = timings.comparison.way(RECORDED_WAY)
    speedup = timings.comparison.result(way, timings.comparison.way("plain")).speedup
    rates = timings.race.speculative.decode_rate, timings.race.plain.decode_rate
    best = max((point for point in timings.sweep.points), key=lambda point: point.result.speedup.pooled)
    gamma = timings.comparison.ways[way].settings.gamma
    for name, told in {
        "the-race": (f"{rates[0] / rates[1]:.2f}×", f"{rates[0]:.1f}", f"{rates[1]:.1f}"),
        "measured-fairly": (f"{speedup.pooled:.2f}×", f"[{speedup.low:.2f}, {speedup.high:.2f}]", f"{speedup.n} pairs"),
        "why-possible": (f"{gamma + 1} tokens", f"{timings.costs.verify_ratio(gamma):.2f}"),
        "draft-length": (f"γ = {best.gamma}", f"{best.result.speedup.pooled:.2f}×"),
    }.items():
        for number in told:
            expect(result_of(opened, name)).to_contain_text(number)
    open_tab(opened, DRAFTING)
    facts, runs = drafting.dependence.facts, drafting.policy_runs
    cuts = [cut_round(round_, "entropy", runs.settings.entropy_threshold) for round_ in runs.run("fixed").rounds]
    fastest = max((point for point in drafting.drafters.points if point.speedup), key=lambda point: point.speedup)
    for name, number in {
        "how-long": f"{len(drafting.policies.ways) - 1} ways",
        "what-threshold": f"{sum(cut.drafted for cut in cuts)} of {sum(len(r.drafts) for r in runs.run('fixed').rounds)}",
        "acceptance-by": f"α {sum(fact.accepted for fact in facts) / len(facts):.2f} over {len(facts)}",
        "which-draft": f"{fastest.speedup:.2f}×",
    }.items():
        expect(result_of(opened, name)).to_contain_text(number)
    open_tab(opened, EXACT)
    metrics = recorded_trace(examples()[0]).metrics
    expect(result_of(opened, "several-tokens")).to_contain_text("11/9")
    expect(result_of(opened, "several-tokens")).to_contain_text("10/9")
    expect(result_of(opened, "your-run")).to_contain_text(f"{metrics.accepted} of {metrics.tested}")


def test_a_head_follows_what_its_section_shows(opened: Page) -> None:
    open_tab(opened, EXACT)
    before = result_of(opened, "mass-flow").inner_text()
    opened.click('[data-preset="disjoint"]')
    expect(result_of(opened, "mass-flow")).not_to_have_text(before)
    expect(result_of(opened, "mass-flow")).to_contain_text("1.00 is rejected")
    open_section(opened, "draw-and-count")
    opened.click("#draw-bars")
    expect(result_of(opened, "draw-and-count")).to_contain_text(t("exact.sampling.passed"), timeout=PATIENCE)
    open_tab(opened, DRAFTING)
    open_section(opened, "shared-machine")
    before, others = result_of(opened, "shared-machine").inner_text(), result_of(opened, "which-draft").inner_text()
    opened.click("#shared-run")
    expect(opened.locator("#shared-line p")).to_contain_text("Done: ", timeout=PATIENCE)
    expect(result_of(opened, "shared-machine")).not_to_have_text(before)
    expect(opened.locator("#shared-machine .fold-where")).to_contain_text("a+b")
    expect(result_of(opened, "which-draft")).to_have_text(others)
