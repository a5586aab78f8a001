"""What if, in Chromium: what the page says would follow is what the engine does. Each test is one thing a person does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

from specdec.branching import branch  # noqa: E402
from specdec.models.pairs import Pair  # noqa: E402
from specdec.recording import decode  # noqa: E402
from specdec.trace.session import Change  # noqa: E402
from specdec.trace.trace import Trace  # noqa: E402
from visualizations.step_through.run_view import RunView, run_view_value  # noqa: E402
from visualizations.text import t  # noqa: E402

RULES = ("token", "match", "no_residual", "block")
WORDS = 8


@pytest.fixture(scope="module")
def tables(table_pair: Any) -> Pair:
    """Two Markov tables over eight words, so every word has its bar."""
    laws = np.random.default_rng(5)
    return table_pair(*(laws.dirichlet(np.full(WORDS, 0.8), WORDS).tolist() for _ in range(2)))


@pytest.fixture(scope="module")
def traces(tables: Pair) -> dict[str, Trace]:
    return {rule: decode(tables, "t0 t1", chat=False, rule=rule, gamma=3, seed=3, max_new_tokens=16) for rule in RULES}


@pytest.fixture(scope="module")
def opened(shared_page: Page, traces: dict[str, Trace]) -> Iterator[Page]:
    with gr.Blocks() as demo:
        view = RunView(run_view_value(traces["token"]), elem_id="run-view")
        for rule, trace in traces.items():
            gr.Button(rule).click(lambda trace=trace: run_view_value(trace), None, view, queue=False)
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True)
    shared_page.goto(url)
    yield shared_page
    demo.close(verbose=False)


@pytest.fixture
def view(opened: Page) -> Any:
    opened.get_by_role("button", name="token", exact=True).click()
    expect(opened.locator(".rv-settings")).to_contain_text(t("run_view.rules.token"))
    return opened.locator("#run-view")


def select(view: Any, index: int) -> None:
    view.locator(".rv-token").nth(index).click()
    expect(view.locator(".rv-token").nth(index)).to_have_attribute("aria-pressed", "true")


def said(view: Any) -> str:
    return view.locator(".rv-what-said").inner_text()


def coin_box(view: Any) -> Any:
    return view.get_by_label(t("run_view.what.coin"))


def after(tables: Pair, trace: Trace, at: int, coin: float) -> Any:
    """The position as the engine decides it with another coin."""
    parts = branch(tables, trace, at, Change("coin", coin))
    next(parts)
    place = next(i for r in trace.rounds for i, p in enumerate(r.positions) if p is trace.positions[at])
    return next(parts).round.positions[place]


@pytest.mark.parametrize("rule", ["token", "match", "no_residual"])
def test_another_coin_tells_the_verdict_and_the_replacement_that_the_engine_gives(view, opened, tables, traces, rule):
    trace = traces[rule]
    opened.get_by_role("button", name=rule, exact=True).click()
    expect(view.locator(".rv-settings")).to_contain_text(t(f"run_view.rules.{rule}"))
    turned = 0
    for at, position in enumerate(trace.positions):
        accept = position.accept_probability
        if position.coin is None or not 0.02 < accept < 0.98:
            continue
        select(view, at)
        for coin in (round(accept / 2, 3), round((1 + accept) / 2, 3)):
            coin_box(view).fill(str(coin))
            now = after(tables, trace, at, coin)
            kept = now.kind == "accepted"
            words = ("is below" if kept else "is not below")
            assert words in said(view), (at, coin)
            if (position.kind == "accepted") != kept:
                turned += 1
                assert f"‘{trace_label(trace, now.token_id)}’" in said(view), (at, coin)
                assert view.locator(".rv-void").count() == len(trace.positions) - at - 1
            else:
                assert "nothing changes" in said(view) and view.locator(".rv-void").count() == 0
    assert turned >= 4


def trace_label(trace: Trace, token_id: int) -> str:
    from visualizations.figures.labels import token_label

    candidate = next(c for p in trace.positions for c in p.candidates if c.id == token_id)
    return token_label(candidate.text, candidate.id, candidate.bytes)


def test_under_block_verification_a_coin_passes_or_does_not(view, opened, traces):
    opened.get_by_role("button", name="block", exact=True).click()
    expect(view.locator(".rv-settings")).to_contain_text(t("run_view.rules.block"))
    at, position = next((i, p) for i, p in enumerate(traces["block"].positions) if p.coin is not None and 0.1 < p.accept_probability < 0.9)
    select(view, at)
    coin_box(view).fill(f"{position.accept_probability / 2:.3f}")
    assert "this draft passes" in said(view)
    coin_box(view).fill(f"{(1 + position.accept_probability) / 2:.3f}")
    assert "does not pass" in said(view)


def a_coin(trace: Trace) -> int:
    return next(i for i, p in enumerate(trace.positions) if p.coin is not None and 0.2 < p.accept_probability < 0.8)


def test_the_coin_is_dragged_and_moved_by_keys_and_goes_back(view, opened, traces):
    at = a_coin(traces["token"])
    select(view, at)
    view.locator(".rv-line").scroll_into_view_if_needed()
    dot, line = view.locator(".rv-dot"), view.locator(".rv-line").bounding_box()
    opened.mouse.move(line["x"] + line["width"] * 0.9, line["y"] + 5)
    opened.mouse.down()
    opened.mouse.move(line["x"] + line["width"] * 0.25, line["y"] + 5)
    opened.mouse.up()
    assert abs(float(dot.get_attribute("aria-valuenow")) - 0.25) < 0.01
    before = float(dot.get_attribute("aria-valuenow"))
    dot.focus()
    opened.keyboard.press("ArrowRight")
    assert abs(float(dot.get_attribute("aria-valuenow")) - before - 0.01) < 1e-9
    assert view.locator(".rv-token").nth(at).get_attribute("aria-pressed") == "true"  # the arrow moved the coin alone
    view.get_by_role("button", name=t("run_view.what.reset")).click()
    assert abs(float(dot.get_attribute("aria-valuenow")) - traces["token"].positions[at].coin) < 1e-4
    assert said(view) == t("run_view.what.nothing")


@pytest.mark.parametrize("coin", ["0", "1", "-3", "7", ""])
def test_a_coin_stays_between_0_and_1(view, traces, coin):
    select(view, a_coin(traces["token"]))
    coin_box(view).fill(coin)
    assert 0 < float(view.locator(".rv-dot").get_attribute("aria-valuenow")) < 1


def test_a_forced_token_tells_what_both_models_gave_it(view, traces):
    at = a_coin(traces["token"])
    position = traces["token"].positions[at]
    other = next(c for c in position.candidates if c.id != position.token_id and c.p > 0.1)
    select(view, at)
    view.get_by_label(t("run_view.what.token")).select_option(str(other.id))
    assert f"p_big gives it {other.p:.2f}" in said(view) and f"p_small {other.q:.2g}" in said(view)
    assert view.locator(".rv-void").count() == len(traces["token"].positions) - at - 1
    view.get_by_label(t("run_view.what.token")).select_option(str(position.token_id))
    assert "is what came out" in said(view) and view.locator(".rv-void").count() == 0


def test_a_click_on_a_row_of_the_residual_forces_its_token(view, traces):
    at = next(i for i, p in enumerate(traces["token"].positions) if p.kind == "replaced")
    select(view, at)
    view.locator(".rv-residual li").last.locator(".rv-residual-number").click()
    expect(view.locator(".rv-what-said")).to_contain_text("p_big gives it")


def test_a_click_on_a_bar_forces_its_token(view, opened, traces):
    select(view, a_coin(traces["token"]))
    bars = view.locator(".rv-main .rv-bars")
    bars.locator(".barlayer .point").first.wait_for()
    bars.scroll_into_view_if_needed()
    box = bars.locator(".xaxislayer-above .xtick, .xaxislayer-below .xtick").nth(1).bounding_box()
    plot = bars.locator(".nsewdrag").first.bounding_box()
    opened.mouse.move(box["x"] + box["width"] / 2, plot["y"] + plot["height"] - 8)
    expect(bars.locator(".hovertext").first).to_be_visible()
    opened.mouse.down()
    opened.mouse.up()
    expect(view.locator(".rv-what-said")).to_contain_text("p_big gives it")


def test_draws_grow_towards_their_law(view, opened, traces):
    """1,000 draws lie within 5 standard deviations of their probability in every row: a false alarm in over 10^5 looks."""
    at = a_coin(traces["token"])
    select(view, at)
    view.locator(".rv-again summary").click()
    again = view.locator(".rv-again")
    for what in ("draft", "coin", "replacement", "all"):
        again.locator("select").select_option(what)
        for _ in range(10):
            again.get_by_role("button", name=t("run_view.again.draw", count=100), exact=True).click()
        rows = [row.inner_text() for row in again.locator("li").all()]
        counts = [int(row.split("\n")[-1].split(" ")[0]) for row in rows]
        laws = [float(row.split(" against ")[-1]) for row in rows]
        assert sum(counts) == 1000 and abs(sum(laws) - 1) < 0.03, rows
        for count, law in zip(counts, laws, strict=True):
            assert abs(count / 1000 - law) < 5 * (max(law * (1 - law), 0.004) / 1000) ** 0.5 + 0.006, (what, rows)
    again.get_by_role("button", name=t("run_view.again.reset")).click()
    expect(again.locator(".rv-again-said")).to_have_text(t("run_view.again.nothing"))


def test_a_discarded_draft_has_no_what_if(view, traces):
    at = next((i for i, p in enumerate(traces["token"].positions) if p.kind == "discarded"), None)
    assert at is not None
    select(view, at)
    expect(view.locator(".rv-what")).to_be_hidden()


def test_nothing_of_it_asks_the_server(view, opened, traces):
    before = len(opened.requests)
    select(view, a_coin(traces["token"]))
    coin_box(view).fill("0.5")
    view.get_by_label(t("run_view.what.token")).select_option(index=1)
    assert opened.requests[before:] == []
