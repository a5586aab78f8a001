"""A tab that is closed amid a run frees the models for the next visitor, whatever it had them do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from gradio_client import Client  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

from tests.launched import launched, only  # noqa: E402
from tests.sections import open_section  # noqa: E402
from tests.slow_pair import LONG_PROMPT, slow_pair  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 90_000
FREE_SECONDS = 6  # two for the models, the rest for a first token, the app and a busy machine
SHORT = {"max_new_tokens": 1, "gamma": 0, "chat": False}


@pytest.fixture(scope="module")
def slow_url(pair_of, tiny_llama) -> Iterator[str]:
    """The app with models whose passes take a while, the target's a long one."""
    with launched(only(slow_pair(pair_of, tiny_llama, target=0.4))) as url:
        yield url


@pytest.fixture
def next_visitor(slow_url: str) -> Client:
    return Client(slow_url, verbose=False)


def seconds_of_a_short_call(visitor: Client) -> float:
    began = time.monotonic()
    assert visitor.predict("t1 t2", api_name="/decode", **SHORT)["metrics"]["emitted"] == 1
    return time.monotonic() - began


def run_a_long_prompt(page: Page) -> None:
    page.fill("#prompt textarea", LONG_PROMPT)
    page.click("#run")
    expect(page.locator("#run-line")).to_contain_text(t("app.reading"), timeout=PATIENCE)


def measure(page: Page) -> None:
    page.get_by_role("tab", name=t("faster.tab")).click()
    open_section(page, "measured-fairly")
    page.click("#measure-run")
    expect(page.locator("#measure-line")).to_contain_text(t("measuring.warming"), timeout=PATIENCE)


@pytest.mark.parametrize("work", [run_a_long_prompt, measure])
def test_the_models_are_free(page: Page, slow_url: str, next_visitor: Client, work: Callable[[Page], None]) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(slow_url)
    work(page)
    page.wait_for_timeout(1000)
    page.close()
    assert seconds_of_a_short_call(next_visitor) < FREE_SECONDS


def test_stop_amid_a_long_prompt(page: Page, slow_url: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(slow_url)
    run_a_long_prompt(page)
    page.wait_for_timeout(1000)
    began = time.monotonic()
    page.click("#stop")
    expect(page.locator("#run-line")).to_contain_text(t("app.stopped"), timeout=PATIENCE)
    assert time.monotonic() - began < FREE_SECONDS
