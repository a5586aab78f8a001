"""Models of one's own from the command line, as a person sees them on the page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from specdec.trace.trace import Trace  # noqa: E402
from tests.launched import launched  # noqa: E402
from tests.offering import offering  # noqa: E402
from tests.typing_in import type_in  # noqa: E402
from visualizations.serving.command_line import read_command_line  # noqa: E402
from visualizations.serving.loading import load_in_turn  # noqa: E402
from visualizations.step_through.speed import launched_app  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 90_000
expect.set_options(timeout=PATIENCE)
WORDS = ["<unk>", "cat", "dog", "sat", "on", "the", "mat", "."]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, saved: Callable[..., str]) -> Path:
    """A folder whose name is nobody's business, with two models in it."""
    folder = tmp_path_factory.mktemp("hidden-place")
    saved(folder / "big", WORDS)
    saved(folder / "small", WORDS, seed=1)
    return folder


@pytest.fixture(scope="module")
def url_of_both(place: Path) -> Iterator[str]:
    """`python app.py` in a process of its own, with both folders."""
    own = ("--target", str(place / "big"), "--draft", str(place / "small"), "--dtype", "float32", "--device", "cpu")
    with launched_app(*own) as url:
        yield url


@pytest.fixture(scope="module")
def url_of_one(place: Path) -> Iterator[str]:
    """The page with the target alone."""
    (spec,) = read_command_line(["--target", str(place / "big"), "--draft", "none", "--device", "cpu"]).pairs
    with offering(spec), launched(load_in_turn) as url:
        yield url


def opened(page: Page, url: str, title: str) -> Page:
    """The page with its models loaded and its settings unfolded."""
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    expect(page.locator("#models-line")).to_contain_text(t("app.loaded", pair=title))
    page.get_by_role("button", name=t("app.settings")).first.click()
    expect(page.locator("#settings").get_by_label(t("app.pair.label"))).to_have_value(title)
    return page


def run(page: Page, prompt: str, tokens: int, path: Path) -> Trace:
    """The trace of a run to its end, as the page saves it to `path`."""
    page.locator("#settings").get_by_label(t("app.chat.label")).uncheck()
    type_in(page.locator("#settings").get_by_label(f"number input for {t('app.max_new_tokens.label')}"), str(tokens))
    page.fill("#prompt textarea", prompt)
    page.click("#run")
    expect(page.locator("#run-line")).to_contain_text("Finished")
    expect(page.locator("#run-view .rv-running")).to_have_count(0)
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(path)
    return Trace.from_json(path.read_bytes())


def drafter(page: Page) -> Any:
    return page.locator("#settings").get_by_label(t("app.drafter.label"))


def test_two_folders_run_to_bars_on_screen_and_no_path_is_shown(page: Page, url_of_both: str, place: Path, tmp_path: Path) -> None:
    opened(page, url_of_both, "big ← small")
    expect(drafter(page)).to_have_value(t("app.drafter.model"))
    trace = run(page, "the cat sat", 16, tmp_path / "trace.json")
    assert (trace.pair.name, trace.pair.target, trace.pair.draft) == ("big+small", "big", "small")
    assert (trace.dtype, trace.prompt.text, len(trace.output.ids)) == ("float32", "the cat sat", 16)
    expect(page.locator("#run-view")).to_contain_text("big ← small")
    expect(page.locator("#run-view .rv-round")).to_have_count(len(trace.rounds))
    page.locator("#run-view .rv-token").first.click()
    expect(page.locator("#run-view .rv-bars .main-svg").first).to_be_visible()
    expect(page.locator("#run-view .rv-bars .xtick").first).to_be_visible()
    told = [page.content(), (tmp_path / "trace.json").read_text()]
    told += [urlopen(f"{url_of_both}/{name}").read().decode() for name in ("config", "gradio_api/info")]
    assert not [text for text in told if place.name in text or str(tmp_path.parent) in text]


def test_without_a_draft_the_page_begins_with_copying_and_says_why_no_model_drafts(page: Page, url_of_one: str, tmp_path: Path) -> None:
    title = "big ← prompt lookup"
    opened(page, url_of_one, title)
    expect(drafter(page)).to_have_value(t("app.drafter.prompt_lookup"))
    trace = run(page, "the cat sat on the mat the cat sat", 40, tmp_path / "trace.json")
    assert (trace.pair.name, trace.pair.draft, trace.settings.drafter) == ("big", None, "prompt_lookup")
    assert "copy" in [position.drafted_by for position in trace.positions]
    drafter(page).click()
    page.get_by_role("option", name=t("app.drafter.model"), exact=True).click()
    page.click("#run")
    expect(page.locator("#run-line")).to_contain_text("big has no draft model; choose the drafter prompt_lookup.")
    page.get_by_role("button", name=t("app.examples.story"), exact=True).click()
    expect(drafter(page)).to_have_value(t("app.drafter.prompt_lookup"))
    expect(page.locator("#settings").get_by_label(t("app.pair.label"))).to_have_value(title)
