"""The page when its server or its connection goes, in Chromium: nothing that was on screen turns into something else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from specdec.models.catalogue import DEFAULT_PAIR  # noqa: E402
from specdec.models.pairs import Pair  # noqa: E402
from specdec.trace.trace import Trace  # noqa: E402
from tests.cut_line import Line, line_to  # noqa: E402
from tests.held_table import HeldTable  # noqa: E402
from tests.launched import chatty, launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.sections import unfold  # noqa: E402
from tests.typing_in import seed_box, type_in  # noqa: E402
from visualizations import demo as the_page  # noqa: E402
from visualizations.step_through.examples import examples  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)
PROMPT = "t0 <b>t1</b> ${x}"


@pytest.fixture
def target() -> Iterator[HeldTable]:
    held = HeldTable([0.4, 0.3, 0.2, 0.1])
    yield held
    held.gate.set()


@pytest.fixture
def pair(pair_of: Any, target: HeldTable) -> Pair:
    made = chatty(pair_of(target, HeldTable([0.1, 0.2, 0.3, 0.4]), eos_ids=[3]))
    return replace(made, info=replace(made.info, name=DEFAULT_PAIR))


def line(page: Page) -> Any:
    return page.locator("#run-line")


def open_page(page: Page, url: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    until_loaded(page)


def run(page: Page) -> str:
    """Run the prompt; the run on screen."""
    page.fill("#prompt textarea", PROMPT)
    page.click("#run")
    expect(line(page)).to_contain_text("Finished")
    expect(page.locator("#run-view .rv-running")).to_have_count(0)  # the line may tell of the end before the view has it
    return page.locator("#run-view .rv-strip").inner_text()


def saved(page: Page, folder: Path) -> Trace:
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(folder / "trace.json")
    return Trace.from_json((folder / "trace.json").read_bytes())


@contextmanager
def cuttable(pair: Pair) -> Iterator[Line]:
    """The app at the end of a line that can be cut."""
    with launched(only(pair)) as url, line_to(urlsplit(url).port) as line:
        yield line


def test_what_the_server_has_forgotten_is_saved_and_shown_all_the_same(
    page: Page, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(the_page, "MOST_VISITORS_KEPT", 1)
    with launched(only(pair)) as url:
        open_page(page, url)
        run(page)
        for _ in range(3):  # newer visitors take the places of older ones
            other = page.context.new_page()
            other.goto(url)
            until_loaded(other)
            other.get_by_role("button", name=t(f"app.examples.{examples()[1].key}"), exact=True).click()
            expect(other.locator("#prompt textarea")).to_have_value(examples()[1].prompt)
            other.close()
        assert saved(page, tmp_path).prompt.text == PROMPT
        page.get_by_role("tab", name=t("exact.tab")).click()
        unfold(page, "your-run")
        expect(page.locator("#acceptance table").first).to_be_visible()
        unfold(page, "draw-and-count")
        page.click("#draw-real")
        expect(page.locator("#sampling .sv-lines")).to_contain_text("4 ids")


def test_a_restarted_server_saves_the_run_on_screen(page: Page, pair: Pair, tmp_path: Path) -> None:
    with launched(only(pair)) as url:
        open_page(page, url)
        run(page)
    with launched(only(pair), urlsplit(url).port):
        assert saved(page, tmp_path).prompt.text == PROMPT


def test_nothing_is_saved_in_place_of_a_run_under_way(page: Page, pair: Pair, target: HeldTable) -> None:
    with launched(only(pair)) as url:
        open_page(page, url)
        target.gate.clear()
        page.click("#run")
        expect(line(page)).to_contain_text(t("app.reading"))
        page.click("#download")
        expect(line(page)).to_contain_text(t("app.no_run.under_way"))
        page.get_by_label(t("take_away.format")).select_option("png")
        page.click("#download")
        expect(line(page)).to_contain_text(t("take_away.no_position"))
        target.gate.set()
        expect(line(page)).to_contain_text("Finished")


def test_a_lost_connection_is_said_and_leaves_prompt_settings_and_run(page: Page, pair: Pair, tmp_path: Path) -> None:
    with cuttable(pair) as to_app:
        open_page(page, to_app.url)
        shown = run(page)
        page.get_by_role("button", name=t("app.settings")).first.click()
        type_in(seed_box(page), "77")
        page.fill("#prompt textarea", "t3 typed later")
        to_app.cut()
        page.click("#run")
        expect(line(page)).to_contain_text(t("app.connection_lost"))
        to_app.mend()
        expect(line(page)).to_contain_text(t("app.reopened.lost"))
        expect(page.locator("#prompt textarea")).to_have_value("t3 typed later")
        expect(page.locator("#run-view .rv-strip")).to_have_text(shown, use_inner_text=True)
        assert saved(page, tmp_path).prompt.text == PROMPT
        page.get_by_role("button", name=t("app.settings")).first.click()
        expect(seed_box(page)).to_have_value("77")
        page.click("#run")
        expect(line(page)).to_contain_text("Finished")


def test_a_run_under_way_when_the_connection_goes_is_said_to_be_gone(
    page: Page, pair: Pair, target: HeldTable
) -> None:
    with cuttable(pair) as to_app:
        open_page(page, to_app.url)
        target.gate.clear()
        page.fill("#prompt textarea", PROMPT)
        page.click("#run")
        expect(line(page)).to_contain_text(t("app.reading"))
        to_app.cut()
        expect(line(page)).to_contain_text(t("app.connection_lost"))
        target.gate.set()
        to_app.mend()
        expect(line(page)).to_contain_text(t("app.reopened.under_way"))
        expect(page.locator("#prompt textarea")).to_have_value(PROMPT)
        expect(page.locator("#run-view")).to_contain_text(t("run_view.empty"))
        page.click("#download")
        expect(line(page)).to_contain_text(t("app.no_run.lost"))
        page.click("#run")
        expect(line(page)).to_contain_text("Finished")


def test_a_run_that_the_server_breaks_off_is_said_to_be_so(page: Page, pair: Pair, target: HeldTable) -> None:
    with launched(only(pair)) as url:
        open_page(page, url)
        target.gate.clear()
        page.click("#run")
        expect(line(page)).to_contain_text(t("app.reading"))
    target.gate.set()
    expect(line(page)).to_contain_text(t("app.broken_off"))
    with launched(only(pair), urlsplit(url).port):
        page.reload()
        expect(line(page)).to_contain_text(t("app.no_run.lost"))
        page.click("#run")
        expect(line(page)).to_contain_text("Finished")


def test_a_run_too_large_for_the_browser_is_said_to_be_gone(page: Page, pair: Pair) -> None:
    page.add_init_script("""() => 0;
        const set = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, value) {
          if (value.length > 2000) throw new DOMException('full', 'QuotaExceededError');
          set.call(this, key, value);
        };""")
    with launched(only(pair)) as url:
        open_page(page, url)
        run(page)
        page.reload()
        expect(line(page)).to_contain_text(t("app.no_run.too_large"))
        expect(page.locator("#prompt textarea")).to_have_value(PROMPT)


def test_the_race_and_the_bars_are_as_they_were_left(page: Page, pair: Pair) -> None:
    with launched(only(pair)) as url:
        open_page(page, url)
        page.get_by_role("tab", name=t("faster.tab")).click()
        page.fill("#race-prompt textarea", "t2 t2")
        page.get_by_role("tab", name=t("exact.tab")).click()
        page.click('#playground button[data-preset="disjoint"]')
        page.reload()
        page.get_by_role("tab", name=t("exact.tab")).click()
        expect(page.locator('#playground button[data-preset="disjoint"]')).to_have_attribute("aria-pressed", "true")
        page.get_by_role("tab", name=t("faster.tab")).click()
        expect(page.locator("#race-prompt textarea")).to_have_value("t2 t2")
