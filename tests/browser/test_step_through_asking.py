"""Asking for a run in Chromium: a full line, a double click, a seed that is drawn. Each test is one thing a person does."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from gradio_client import Client  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

from tests.held_table import HeldTable  # noqa: E402
from tests.launched import chatty, launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.no_lane import no_lane  # noqa: E402
from tests.sections import open_section  # noqa: E402
from tests.typing_in import seed_box, type_in  # noqa: E402
from visualizations.serving import shelf  # noqa: E402
from visualizations.serving.places import Places  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)
RUN = {"chat": False, "max_new_tokens": 8}
SEED = re.compile(r"seed (\d+)")


@pytest.fixture(scope="module")
def target() -> HeldTable:
    return HeldTable([0.4, 0.3, 0.2, 0.1])


@pytest.fixture(scope="module")
def app_url(pair_of: Any, target: HeldTable) -> Iterator[str]:
    """The app with a model that a test can hold, one run at a time, and room for one that waits."""
    pair = chatty(pair_of(target, HeldTable([0.1, 0.2, 0.3, 0.4]), eos_ids=[3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelf, "Places", partial(Places, most_waiting=1))
        with launched(only(pair), slots=1) as url:
            yield url


@pytest.fixture
def opened(page: Page, app_url: str, target: HeldTable) -> Iterator[Page]:
    """The page, with a prompt that the model knows, where nothing but the runs asked for uses the models."""
    no_lane(page)
    page.set_default_timeout(PATIENCE)
    page.goto(app_url)
    until_loaded(page)
    page.fill("#prompt textarea", "t0 t1")
    yield page
    target.gate.set()


def line(page: Page) -> Any:
    return page.locator("#run-line")


def fill_line(url: str, target: HeldTable, page: Page) -> list[Any]:
    """One run holds the models and another waits: the line is full."""
    target.gate.clear()
    jobs = []
    for _ in range(2):
        jobs.append(Client(url, verbose=False).submit("t0 t1", api_name="/decode", **RUN))
        while not jobs[-1].outputs():
            page.wait_for_timeout(50)
    return jobs


def full() -> re.Pattern[str]:
    """What is said of a full line, with or without when to try again."""
    return re.compile(r"^More wait for the models than have room\. Try again in (a moment|about \d+ s);")


def run(page: Page, target: HeldTable) -> None:
    """Press Run and wait until the run is over; the line may still tell of an earlier one."""
    before = target.runs
    page.click("#run")
    while target.runs == before:
        page.wait_for_timeout(50)
    expect(line(page)).to_contain_text("Finished")
    expect(page.locator("#run-view .rv-running")).to_have_count(0)  # the line may tell of the end before the view has it


def test_a_full_line_is_said_and_run_works_later(opened: Page, app_url: str, target: HeldTable) -> None:
    jobs = fill_line(app_url, target, opened)
    opened.click("#run")
    expect(line(opened).locator("p span")).to_have_text(full())
    expect(line(opened).get_by_text("Error", exact=True)).to_be_hidden()
    target.gate.set()
    for job in jobs:
        job.result(timeout=120)
    run(opened, target)


def test_what_needs_no_model_works_while_the_line_is_full(
    opened: Page, app_url: str, target: HeldTable
) -> None:
    jobs, page = fill_line(app_url, target, opened), opened
    page.reload()
    until_loaded(page)
    page.get_by_role("tab", name=t("exact.tab")).click()
    open_section(page, "several-tokens")
    expect(page.locator("#several table").first).to_be_visible()
    open_section(page, "your-run")
    expect(page.locator("#acceptance table").first).to_be_visible()
    open_section(page, "draw-and-count")
    page.click("#draw-bars")
    expect(page.locator("#sampling .sv")).to_have_attribute("data-state", "passed")
    page.click("#draw-real")
    expect(page.locator("#sampling")).to_contain_text("More wait for the models than have room.")
    page.get_by_role("tab", name=t("faster.tab")).click()
    expect(page.locator("#race-line")).to_contain_text(t("measuring.recorded"))
    expect(page.locator("#race-view .ra-line")).to_contain_text("measured ratio")
    page.click("#race-run")
    expect(page.locator("#race-line p span")).to_have_text(full())
    expect(page.locator("main .error:visible")).to_have_count(0)
    target.gate.set()
    for job in jobs:
        job.result(timeout=120)


def test_whoever_waits_reads_a_place_and_leaves_it_at_once(opened: Page, app_url: str, target: HeldTable) -> None:
    target.gate.clear()
    job = Client(app_url, verbose=False).submit("t0 t1", api_name="/decode", **RUN)
    while not job.outputs():
        opened.wait_for_timeout(50)
    opened.click("#run")
    expect(line(opened).locator("p span")).to_have_text(re.compile(r"^Place 1 in line for the models(, about \d+ s)?\.$"))
    opened.click("#stop")
    expect(line(opened)).to_contain_text(t("app.stopped"))
    assert not job.done()
    target.gate.set()
    job.result(timeout=120)


def test_five_clicks_and_enter_in_one_tick_are_one_run(opened: Page, target: HeldTable) -> None:
    before = target.runs
    asked = len([url for url in opened.requests if "/queue/join" in url])
    opened.evaluate("""() => {
        const run = document.querySelector('#run');
        for (let click = 0; click < 5; click++) run.click();
        const enter = {key: 'Enter', shiftKey: true, bubbles: true};
        document.querySelector('#prompt textarea').dispatchEvent(new KeyboardEvent('keypress', enter));
    }""")
    expect(line(opened)).to_contain_text("Finished")
    opened.wait_for_timeout(1000)
    assert target.runs == before + 1
    assert len([url for url in opened.requests if "/queue/join" in url]) == asked + 1


def test_an_empty_seed_is_drawn_shown_and_repeats_the_run(opened: Page, target: HeldTable) -> None:
    opened.get_by_role("button", name=t("app.settings")).first.click()
    seeds, answers = [], []
    for empty in (True, False, True):
        if empty:
            type_in(seed_box(opened), "")
        run(opened, target)
        seeds.append(SEED.search(opened.locator("#run-view .rv-settings").inner_text()).group(1))
        answers.append(opened.locator("#run-view .rv-strip").inner_text())
        assert seed_box(opened).input_value() == seeds[-1]
    assert seeds[0] == seeds[1] != seeds[2]
    assert answers[0] == answers[1]


def test_a_seed_that_is_no_seed_is_refused(opened: Page) -> None:
    opened.get_by_role("button", name=t("app.settings")).first.click()
    type_in(seed_box(opened), "-3")
    opened.click("#run")
    expect(line(opened)).to_contain_text("seed must be a whole number from 0 to")
