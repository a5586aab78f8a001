"""Acting on a run in Chromium: branches, the tree of runs, two runs compared, breakpoints. Each test is one thing a
person does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from specdec.models.pairs import DEFAULT_PAIR, Pair  # noqa: E402
from specdec.recording import decode  # noqa: E402
from specdec.trace.session import MAX_RUNS, Change, Origin, Session, SessionRun  # noqa: E402
from specdec.trace.trace import Trace  # noqa: E402
from tests.launched import chatty, launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.typing_in import type_in  # noqa: E402
from visualizations.step_through.examples import examples  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
WORDS = 8
SETTINGS = examples()[0].settings.changed(seed=3, max_new_tokens=16)


@pytest.fixture(scope="module")
def tables(table_pair: Any) -> Pair:
    laws = np.random.default_rng(5)
    pair = chatty(table_pair(*(laws.dirichlet(np.full(WORDS, 0.8), WORDS).tolist() for _ in range(2))))
    object.__setattr__(pair.info, "name", DEFAULT_PAIR)
    return pair


@pytest.fixture(scope="module")
def app_url(tables: Pair) -> Iterator[str]:
    with launched(only(tables)) as url:
        yield url


@pytest.fixture(scope="module")
def ready(shared_page: Page, app_url: str) -> Page:
    """The page with the settings of `SETTINGS`."""
    shared_page.set_default_timeout(PATIENCE)
    shared_page.goto(app_url)
    until_loaded(shared_page)
    shared_page.locator("#settings button").first.click()
    type_in(shared_page.locator("#settings").get_by_label(t("app.seed.label"), exact=True), str(SETTINGS.seed))
    type_in(number(shared_page, "max_new_tokens"), str(SETTINGS.max_new_tokens))
    return shared_page


@pytest.fixture
def opened(ready: Page) -> Page:
    """The page with one run on screen and no other in its tree."""
    run(ready)
    while ready.locator(".rv-runs").is_visible():
        ready.locator(".rv-run-button", has_text="×").first.click()
    expect(ready.locator(".rv-runs")).to_be_hidden()
    return ready


def number(page: Page, name: str) -> Any:
    return page.locator("#settings").get_by_label(f"number input for {t(f'app.{name}.label')}")


def run(page: Page, until: str = "Finished") -> None:
    page.fill("#prompt textarea", "t0 t1")
    ask(page, page.locator("#run"), until)


def ask(page: Page, button: Any, until: str = "Finished") -> None:
    """Press what asks for the models, and wait for the end; the line may still tell of an earlier one."""
    with page.expect_request(lambda request: "queue/join" in request.url):
        button.click()
    expect(page.locator("#run-line")).to_contain_text(until)
    expect(page.locator("#run-view .rv-running")).to_have_count(0)


@pytest.fixture(scope="module")
def trace(tables: Pair) -> Trace:
    """The run that the page shows, as the engine makes it."""
    return decode(tables, "t0 t1", SETTINGS)


def text(page: Page) -> str:
    return page.locator(".rv-output").text_content()


def select(page: Page, index: int) -> None:
    page.locator(".rv-token").nth(index).click()


def go_on(page: Page) -> None:
    ask(page, page.locator(".rv-what").get_by_role("button", name=t("run_view.what.go")))
    expect(page.locator(".rv-inherited")).to_be_visible()


def upload(page: Page, file: Path) -> None:
    page.locator("#upload").locator("xpath=..").locator("input[type=file]").set_input_files(file)


def tree(page: Page) -> list[str]:
    return page.locator(".rv-run").all_inner_texts()


def second_round(trace: Trace) -> int:
    return len(trace.rounds[0].positions)


def test_a_branch_without_a_change_repeats_its_parent(opened: Page, trace: Trace) -> None:
    assert text(opened) == trace.output.text
    select(opened, second_round(trace))
    go_on(opened)
    assert trace.output.text.endswith(text(opened)) and len(text(opened)) < len(trace.output.text)
    expect(opened.locator(".rv-round-name").first).to_have_text("R2")
    expect(opened.locator(".rv-flipped")).to_be_hidden()
    assert tree(opened)[-2:] == ["t0 t1", f"↳ again from {trace.positions[second_round(trace)].output_index + 1}"]


def test_a_forced_token_begins_another_text_and_both_are_compared(opened: Page, trace: Trace) -> None:
    at = second_round(trace)
    other = next(c for c in trace.positions[at].candidates if c.id != trace.positions[at].token_id and c.p > 0)
    select(opened, at)
    opened.get_by_label(t("run_view.what.token")).select_option(str(other.id))
    go_on(opened)
    number = trace.positions[at].output_index + 1
    assert tree(opened)[-1] == f"↳ ‘t{other.id}’ at {number}"
    expect(opened.locator(".rv-inherited")).to_contain_text(f"t{other.id}")
    opened.get_by_role("button", name=t("run_view.runs.compare", name="t0 t1")).click()
    compared = opened.locator(".rv-compare")
    expect(compared).to_contain_text(f"; token {number} is ‘t{other.id}’ in A")
    expect(compared.locator(".rv-differs small")).to_have_text(str(number))
    compared.locator(".rv-column").nth(number + 1).click()
    expect(compared.locator("h4")).to_contain_text(str(number + 2))
    expect(compared.locator(".rv-compared-bars .barlayer .point").first).to_be_visible()
    opened.locator(".rv-run", has_text="t0 t1").last.click()  # and the other way round
    expect(compared).to_contain_text(f"; token {number} is ‘t{trace.positions[at].token_id}’ in A")
    assert text(opened) == trace.output.text


def test_runs_are_renamed_and_deleted_and_what_went_on_from_them_stays(opened: Page, trace: Trace) -> None:
    select(opened, second_round(trace))
    go_on(opened)
    opened.get_by_role("button", name=t("run_view.runs.rename", name="t0 t1")).click()
    opened.get_by_label(t("run_view.runs.name")).fill("<b>mine</b> ${x}")
    opened.keyboard.press("Enter")
    assert "<b>mine</b> ${x}" in tree(opened)
    opened.get_by_role("button", name=t("run_view.runs.delete", name="<b>mine</b> ${x}")).click()
    expect(opened.locator(".rv-inherited")).to_be_visible()  # the branch is there, and alone
    assert tree(opened) == []


def test_other_settings_hold_from_the_branch_on(opened: Page, trace: Trace) -> None:
    type_in(number(opened, "temperature"), "0")
    select(opened, second_round(trace))
    opened.get_by_label(t("run_view.what.with_form")).check()
    go_on(opened)
    expect(opened.locator(".rv-settings")).to_contain_text("T 0")
    assert tree(opened)[-1].startswith("↳ other settings from")
    type_in(number(opened, "temperature"), f"{SETTINGS.temperature:g}")
    opened.get_by_label(t("run_view.what.with_form")).uncheck()


def test_a_session_is_saved_and_opened_again(opened: Page, trace: Trace, tmp_path: Path) -> None:
    select(opened, second_round(trace))
    go_on(opened)
    names = tree(opened)
    with opened.expect_download() as download:
        opened.get_by_role("button", name=t("run_view.runs.save")).click()
    file = tmp_path / "session.json"
    download.value.save_as(file)
    session = Session.from_json(file.read_bytes())
    assert [name.removeprefix("↳ ") for name in names] == [one.name for one in session.runs]
    assert session.runs[-1].origin.parent == len(session.runs) - 2
    opened.reload()
    expect(opened.locator(".rv-run")).to_have_count(1 + len(names))  # the tree outlives a reload
    assert tree(opened)[1:] == names
    upload(opened, file)
    expect(opened.locator("#run-line")).to_contain_text(f"holds {len(session.runs)} runs")
    assert tree(opened)[1:] == [*names, *names]
    plain = json.loads(file.read_text("utf-8"))
    plain["runs"][-1]["origin"]["at"] = 10**6
    other = tmp_path / "edited.json"
    other.write_text(json.dumps(plain), "utf-8")
    upload(opened, other)
    expect(opened.locator("#run-line")).to_contain_text("goes on from position 1000000")
    assert tree(opened)[1:] == [*names, *names]


def test_a_run_pauses_at_a_rejection_takes_a_round_and_goes_on_as_if_it_had_not(opened: Page, trace: Trace) -> None:
    opened.locator("#until button").first.click()
    opened.get_by_role("checkbox", name=t("until.rejection.label")).check()
    run(opened, t("until.met.rejection"))
    rejected = next(n for n, r in enumerate(trace.rounds) if any(p.kind == "replaced" for p in r.positions))
    assert text(opened) == written(trace, rejected + 1)
    expect(opened.locator(".rv-title")).to_contain_text("rejected")
    ask(opened, opened.locator(".rv-pause button").first, t("until.met.every_round"))
    expect(opened.locator(".rv-round")).to_have_count(rejected + 2)
    opened.get_by_role("checkbox", name=t("until.rejection.label")).uncheck()
    ask(opened, opened.locator(".rv-pause button").last)
    assert text(opened) == trace.output.text
    expect(opened.locator(".rv-pause")).to_be_hidden()


def written(trace: Trace, rounds: int) -> str:
    return "".join(p.text for r in trace.rounds[:rounds] for p in r.positions if p.kind != "discarded")


def test_two_visitors_trees_never_mix(opened: Page, app_url: str, browser: Any, trace: Trace) -> None:
    select(opened, second_round(trace))
    go_on(opened)
    mine = tree(opened)
    context = browser.new_context()
    other = context.new_page()
    other.goto(app_url)
    expect(other.locator("#run-view .rv-round").first).to_be_visible()
    assert other.locator(".rv-run").count() == 0
    other.fill("#prompt textarea", "t2")
    other.click("#run")
    expect(other.locator("#run-line")).to_contain_text("Finished")
    assert tree(opened) == mine and not set(tree(other)) & set(mine[1:])
    context.close()


def test_two_hundred_runs_can_be_used_and_the_oldest_goes_when_there_are_more(opened: Page, trace: Trace, tmp_path: Path) -> None:
    runs = (SessionRun("run 0", trace), *(SessionRun(f"run {n}", trace, Origin(n // 2, n % 5, Change())) for n in range(1, MAX_RUNS)))
    file = tmp_path / "session.json"
    file.write_text(Session("specdec-session/1", runs).to_json(), "utf-8")
    upload(opened, file)
    expect(opened.locator("#run-line")).to_contain_text(f"holds {MAX_RUNS} runs")
    expect(opened.locator(".rv-run")).to_have_count(MAX_RUNS)  # what was there before has made room
    opened.locator(".rv-run", has_text=f"run {MAX_RUNS - 1}").click()
    expect(opened.locator(".rv-runs summary")).to_contain_text(f"on screen: run {MAX_RUNS - 1}")
    run(opened)
    expect(opened.locator(".rv-run")).to_have_count(MAX_RUNS)
    assert text(opened) == trace.output.text
