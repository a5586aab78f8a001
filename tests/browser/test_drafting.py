"""The tab "Drafting" in Chromium: choices and sliders without a request, the worst places, a measurement, a phone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from specdec.exactness.dependence import worst_places  # noqa: E402
from specdec.exactness.theory import best_shared, shared_speedup  # noqa: E402
from specdec.models.pairs import Pair  # noqa: E402
from specdec.timing.policies import cut_round, worth_of  # noqa: E402
from tests.launched import launched_with  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.made_drafting import (  # noqa: E402
    made_dependence,
    made_drafters,
    made_policies,
    made_policy_runs,
)
from tests.made_timings import made_costs  # noqa: E402
from tests.sections import open_section  # noqa: E402
from tests.seen import faint_texts, nameless_images  # noqa: E402
from visualizations.components.scripts import THEORY_JS  # noqa: E402
from visualizations.drafting import tab as the_tab  # noqa: E402
from visualizations.drafting.records import Recorded  # noqa: E402
from visualizations.drafting.shared.component import page_costs  # noqa: E402
from visualizations.drafting.threshold.component import threshold_value  # noqa: E402
from visualizations.figures.draft_columns import TRACES  # noqa: E402
from visualizations.figures.shared_machine import BATCHES  # noqa: E402
from visualizations.step_through.examples import examples, recorded_trace  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 90_000
CHARTS = ("columns-view", "threshold-view", "place-chart", "draft-entropy-chart", "target-entropy-chart", "kind-chart", "drafters-chart", "shared-view")
SECTIONS = ("what-threshold", "acceptance-by", "worst", "which-draft", "shared-machine")  # folded
CUT_JS = Path(the_tab.__file__).parent / "threshold" / "cut.js"


@pytest.fixture(scope="module")
def app_url(default_pair: Pair) -> Iterator[str]:
    made = Recorded(made_policy_runs(), made_policies(), made_dependence(), made_drafters(), made_costs())
    with launched_with(made, the_tab, default_pair) as url:
        yield url


def open_tab(page: Page, url: str) -> Page:
    """The tab, filled with the records."""
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    until_loaded(page)
    page.get_by_role("tab", name=t("drafting.tab")).click()
    for section in SECTIONS:
        open_section(page, section)
    for name in CHARTS:
        expect(page.locator(f"#{name} .main-svg").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#worst-places button").first).to_be_visible(timeout=PATIENCE)
    return page


@pytest.fixture(scope="module")
def open_for_all(shared_page: Page, app_url: str) -> Page:
    return open_tab(shared_page, app_url)


@pytest.fixture
def opened(open_for_all: Page) -> Page:
    """The tab with its records; what is chosen and typed in it may differ."""
    open_for_all.get_by_role("tab", name=t("drafting.tab")).click()
    return open_for_all


def slide(page: Page, view: str, value: float) -> None:
    page.locator(f"#{view} input[type=range]").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input', {bubbles: true})); }", str(value)
    )


def heights(page: Page, view: str) -> dict[str, list[int]]:
    rows = page.evaluate("(id) => document.querySelector('#' + id + ' .ch-plot').data.map((trace) => trace.y)", view)
    return {name: [height or 0 for height in row] for name, row in zip(TRACES, rows)}


def test_it_opens_with_what_was_recorded_and_asks_for_no_model(opened: Page) -> None:
    expect(opened.locator("#lengths-report .rp-verdict")).to_contain_text("No better than γ = 2")
    for name in ("lengths", "acceptance", "drafters", "shared"):
        expect(opened.locator(f"#{name}-line")).to_contain_text(t("measuring.recorded"))
    assert not [url for url in opened.requests if "queue/join" in url]
    assert opened.locator("#columns-view i, #columns-view b").count() == 0  # text stays text


def test_a_policy_is_chosen_on_the_page(opened: Page) -> None:
    before = list(opened.requests)
    assert heights(opened, "columns-view")["kept"] == [4, 0, 8]
    opened.locator("#columns-view button", has_text=t("drafting.columns.policy.heuristic")).click()
    expect(opened.locator("#columns-view .dp-answer")).to_contain_text("16 drafts in 2 rounds, 10 of them wasted")
    assert heights(opened, "columns-view")["kept"] == [4, 0]
    assert opened.requests == before


@pytest.mark.parametrize(("kind", "threshold"), [("entropy", 0.6), ("entropy", 2.0), ("entropy", 0.0), ("confidence", 0.4), ("confidence", 0.0)])
def test_the_threshold_cuts_as_python_does(opened: Page, kind: str, threshold: float) -> None:
    before = list(opened.requests)
    opened.locator(f"#threshold-view button[data-key={kind}]").click()
    slide(opened, "threshold-view", threshold)
    rounds = made_policy_runs().runs[0].rounds
    cuts = [cut_round(round_, kind, threshold) for round_ in rounds]
    seen = heights(opened, "threshold-view")
    assert seen["kept"] == [cut.accepted for cut in cuts] and seen["wasted"] == [cut.wasted for cut in cuts]
    assert seen["undrafted"] == [len(round_.drafts) - cut.drafted for round_, cut in zip(rounds, cuts)]
    per_round, speedup = worth_of(cuts, made_costs())
    expect(opened.locator("#threshold-view .dp-answer")).to_contain_text(f"{per_round:.2f} tokens per round, predicted {speedup:.2f}×")
    assert opened.requests == before


@pytest.mark.parametrize("alpha", [0.2, 0.6, 0.95])
def test_the_shared_machine_follows_alpha_as_the_theory_has_it(opened: Page, alpha: float) -> None:
    before = list(opened.requests)
    slide(opened, "shared-view", alpha)
    costs = made_costs()
    lines = opened.evaluate("() => document.querySelector('#shared-view .ch-plot').data.map((trace) => trace.y)")
    best = [best_shared(alpha, batch, costs.draft_seconds, costs.target_seconds, 64) for batch in BATCHES]
    assert lines[-1] == pytest.approx([speedup for _, speedup in best])
    assert lines[2][0] == pytest.approx(shared_speedup(alpha, 4, 1, costs.draft_seconds, costs.target_seconds))
    assert lines[2][-1] is None  # 160 tokens in a pass: nobody measured that
    assert opened.requests == before


def test_the_page_cuts_and_prices_recorded_rounds_as_python_does(page: Page) -> None:
    from visualizations.drafting.records import recorded

    kept = recorded()
    value, costs = threshold_value(kept.policy_runs), kept.policies.costs
    thresholds = [("entropy", at / 4) for at in range(20)] + [("confidence", at / 10) for at in range(11)]
    script = f"""([rounds, costs, thresholds]) => {{ {THEORY_JS.read_text()} {CUT_JS.read_text()}
      return thresholds.map(([kind, at]) => {{
        const cuts = rounds.map((round) => cutRound(round, kind, at));
        return [cuts.map((cut) => [cut.drafted, cut.tested, cut.accepted, cut.emitted]), worthOf(cuts, costs).speedup];
      }}); }}"""
    for (kind, at), (counts, speedup) in zip(thresholds, page.evaluate(script, [value["rounds"], page_costs(costs), thresholds])):
        cuts = [cut_round(round_, kind, at) for round_ in kept.policy_runs.run("fixed").rounds]
        assert counts == [[cut.drafted, cut.tested, cut.accepted, cut.emitted] for cut in cuts], (kind, at)
        assert speedup == pytest.approx(worth_of(cuts, costs)[1])


def test_a_worst_place_is_shown_in_step_through(opened: Page) -> None:
    trace = recorded_trace(examples()[0])
    places = worst_places(trace)
    buttons = opened.locator("#worst-places button")
    assert buttons.count() == len(places)
    before = [url for url in opened.requests if "queue" in url or "/run/" in url]
    buttons.nth(3).click()
    expect(opened.get_by_role("tab", name=t("app.tabs.step_through"))).to_have_attribute("aria-selected", "true")
    pressed = opened.locator("#run-view .rv-token[aria-pressed=true]")
    expect(pressed).to_be_visible()
    expect(pressed).to_be_focused()
    assert opened.evaluate("() => [...document.querySelectorAll('#run-view .rv-token')].findIndex((b) => b.getAttribute('aria-pressed') === 'true')") == places[3]
    assert [url for url in opened.requests if "queue" in url or "/run/" in url] == before


def test_what_cannot_be_measured_is_refused_in_a_sentence(opened: Page) -> None:
    opened.fill("#lengths-prompt textarea", "")
    opened.click("#lengths-run")
    expect(opened.locator("#lengths-line")).to_contain_text("prompt is empty")
    expect(opened.locator("#lengths-report .rp-verdict")).to_contain_text("No better than γ = 2")


def test_acceptance_is_measured_here_and_now_and_can_be_stopped(opened: Page) -> None:
    opened.locator("#drafting-settings button").first.click()
    box = opened.locator("#drafting-max_new_tokens input[type=number]")
    box.fill("8")
    box.press("Tab")
    for kind in ("code", "summary"):
        opened.get_by_label(t(f"measuring.prompt.{kind}"), exact=True).last.uncheck()
    opened.click("#acceptance-run")
    expect(opened.locator("#acceptance-line")).to_contain_text("Done: 1 of 1", timeout=PATIENCE)
    opened.click("#drafters-run")
    expect(opened.locator("#drafters-line")).to_contain_text(t("measuring.warming"), timeout=PATIENCE)
    opened.click("#drafters-stop")
    expect(opened.locator("#drafters-line")).to_contain_text("Stopped", timeout=PATIENCE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_holds_it_and_it_can_be_read(page: Page, app_url: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 375, "height": 800})
    open_tab(page, app_url)
    page.locator("#drafting-settings button").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert faint_texts(page) == []
    assert nameless_images(page) == []
