"""The plain lane in Chromium: what is said of a run once plain decoding ran beside, and that it is in nobody's way."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402
from torch import Tensor  # noqa: E402

from specdec.models.table import TableModel  # noqa: E402
from tests.launched import chatty, launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.made_trace import greedy_trace, made_trace  # noqa: E402
from tests.typing_in import type_in  # noqa: E402
from visualizations.step_through.run_view import RunView, ShownRun, new_run, run_view_value  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
PASS_SECONDS = 0.5
NOW = t("app.beside.now")


class SlowPlain(TableModel):
    """A table whose passes over one token, all that plain decoding has, take `pause` seconds; counts them."""

    pause = 0.0
    plain_passes = 0

    def extend(self, tokens: Tensor) -> Tensor:
        if len(tokens) == 1:
            self.plain_passes += 1
            time.sleep(self.pause)
        return super().extend(tokens)


@pytest.fixture(scope="module")
def target() -> SlowPlain:
    return SlowPlain([0.4, 0.3, 0.2, 0.1])


@pytest.fixture(scope="module")
def app_url(pair_of: Any, target: SlowPlain) -> Iterator[str]:
    with launched(only(chatty(pair_of(target, TableModel([0.4, 0.3, 0.2, 0.1]))))) as url:
        yield url


@pytest.fixture(scope="module")
def opened(shared_page: Page, app_url: str) -> Page:
    """The page with its settings unfolded, and a prompt that the model knows; the last test closes it."""
    shared_page.set_default_timeout(PATIENCE)
    shared_page.goto(app_url)
    until_loaded(shared_page)
    shared_page.fill("#prompt textarea", "t0 t1")
    shared_page.get_by_role("button", name=t("app.settings")).first.click()
    return shared_page


def line(page: Page) -> Any:
    return page.locator("#run-line")


def lead(page: Page) -> Any:
    return page.locator(".rv-lead")


def run_with_seed(page: Page, seed: int) -> None:
    """Run, and wait until the run, and no other, is over."""
    type_in(page.locator("#settings").get_by_label(t("app.seed.label"), exact=True), str(seed))
    page.click("#run")
    expect(page.locator(".rv-settings")).to_contain_text(f"seed {seed}")
    expect(line(page)).to_contain_text("Finished")


def run_until_the_lane_is_under_way(page: Page, target: SlowPlain, seed: int) -> None:
    target.pause = PASS_SECONDS
    run_with_seed(page, seed)
    expect(line(page)).to_contain_text(NOW)
    before = target.plain_passes
    while target.plain_passes == before:
        page.wait_for_timeout(50)


def lane_is_over(target: SlowPlain) -> bool:
    """It would take half a minute if nothing had ended it."""
    for _ in range(10):
        before = target.plain_passes
        time.sleep(3 * PASS_SECONDS)
        if target.plain_passes == before:
            return True
    return False


def test_a_run_at_temperature_0_is_told_its_speed_and_that_the_text_is_the_same(opened: Page) -> None:
    type_in(opened.locator("#settings").get_by_label(f"number input for {t('app.temperature.label')}"), "0")
    run_with_seed(opened, 1)
    expect(lead(opened)).to_be_visible()
    expect(opened.locator(".rv-metrics")).to_contain_text("× plain")
    expect(opened.locator(".rv-beside")).to_contain_text("same text")
    expect(line(opened)).not_to_contain_text(NOW)
    lead(opened).click()
    expect(opened.get_by_role("tab", name=t("faster.tab"))).to_have_attribute("aria-selected", "true")
    opened.get_by_role("tab", name=t("app.tabs.step_through")).click()


def test_a_switch_turns_the_lane_off(opened: Page, target: SlowPlain) -> None:
    switch = opened.get_by_label(t("app.beside.label"))
    switch.uncheck()
    before = target.plain_passes
    run_with_seed(opened, 2)
    opened.wait_for_timeout(1000)
    assert target.plain_passes == before
    expect(line(opened)).not_to_contain_text(NOW)
    expect(lead(opened)).to_be_hidden()
    switch.check()


def test_a_run_asked_for_amid_the_lane_begins_at_once(opened: Page, target: SlowPlain) -> None:
    run_until_the_lane_is_under_way(opened, target, 3)
    began = time.monotonic()
    run_with_seed(opened, 4)
    assert time.monotonic() - began < 32 * PASS_SECONDS, "half of what the lane takes"
    target.pause = 0.0
    expect(lead(opened)).to_be_visible()


def test_whatever_its_visitor_does_ends_the_lane(opened: Page, target: SlowPlain) -> None:
    run_until_the_lane_is_under_way(opened, target, 5)
    opened.click("#stop")
    expect(line(opened)).not_to_contain_text(NOW)
    expect(line(opened)).to_contain_text("Finished")
    assert lane_is_over(target)
    expect(lead(opened)).to_be_hidden()
    run_until_the_lane_is_under_way(opened, target, 6)
    opened.close()
    assert lane_is_over(target)


PARTED = {"number": 7, "labels": ["␣<b>", "${x}"], "odds": [0.25012, 0.24987], "near": True}
SAID = {
    "faster": {"speedup": 1.336, "tokens": [48, 40], "seconds": [1.5, 1.671], "compared": None, "parting": None},
}
SAID |= {
    "slower": SAID["faster"] | {"speedup": 0.93},
    "same": SAID["faster"] | {"compared": 48},
    "near": SAID["faster"] | {"compared": 48, "parting": PARTED},
    "far": SAID["faster"] | {"compared": 48, "parting": PARTED | {"odds": [0.2, 0.7], "near": False}},
}


def said(name: str) -> ShownRun:
    """A run that is over, and what plain decoding said of it."""
    shown = ShownRun.whole(made_trace(), new_run())
    shown.beside = SAID[name]
    return shown


@pytest.fixture(scope="module")
def views_url() -> Iterator[str]:
    """A view, and buttons that show a run with what was said of it, another run, or what comes late."""
    with gr.Blocks() as demo:
        view, run, told = RunView(run_view_value(greedy_trace())), gr.State(None), gr.Textbox(label="told")
        view.fill_gaps_from(run)
        for name in SAID:
            gr.Button(name).click(lambda name=name: said(name).since(0), None, view, show_progress="hidden")
        gr.Button("other").click(lambda: run_view_value(greedy_trace()), None, view, show_progress="hidden")

        def late() -> tuple[Any, ...]:
            shown = said("same")
            return shown.since(len(shown)), shown, shown.run

        gr.Button("late").click(late, None, [view, run, told], show_progress="hidden")
        gr.Button("value").click(None, view, told, js="(view) => JSON.parse(view).run")
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, run_history=False)
    yield url
    demo.close(verbose=False)


@pytest.fixture
def view(page: Page, views_url: str) -> Page:
    page.goto(views_url)
    expect(page.locator(".rv-round").first).to_be_visible()
    expect(lead(page)).to_be_hidden()
    return page


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_which_was_faster_and_whether_both_wrote_the_same_is_said_and_leaves_with_its_run(view: Page) -> None:
    words = view.locator(".rv-beside")
    press(view, "faster")
    number = view.get_by_role("button", name="1.34× plain here, one run")
    expect(number).to_be_visible()
    number.focus()
    for part in ("1.67 s for 40 tokens", "1.50 s for 48", "cpu, float32", "One run each"):
        expect(view.locator(".rv-tip:visible")).to_contain_text(part)
    expect(words).to_be_hidden()
    press(view, "slower")
    expect(view.get_by_role("button", name="0.93× plain: slower here, one run")).to_be_visible()
    press(view, "same")
    expect(words).to_contain_text("same text, token for token (48 compared)")
    press(view, "near")
    expect(words).to_contain_text("from token 7 on: ‘${x}’ instead of ‘␣<b>’")
    expect(words).to_contain_text("0.2499 and 0.2501 there, a gap of 0.00025: so near")
    press(view, "far")
    expect(words).to_contain_text("0.70 and 0.20 there, a gap of 0.50, which is more")
    press(view, "other")
    expect(words).to_be_hidden()
    expect(lead(view)).to_be_hidden()


def test_what_comes_late_leaves_another_run_on_screen(view: Page) -> None:
    shown = view.locator(".rv-strip").inner_text()
    press(view, "value")
    told = view.get_by_label("told")
    expect(told).not_to_have_value("")
    on_screen = told.input_value()
    press(view, "late")
    expect(told).not_to_have_value(on_screen)
    view.wait_for_timeout(500)
    assert view.locator(".rv-strip").inner_text() == shown
    expect(lead(view)).to_be_hidden()
    press(view, "value")
    expect(told).to_have_value(on_screen)
