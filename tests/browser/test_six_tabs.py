"""Six tabs of one browser, which opens six connections to a host."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from playwright.sync_api import Page, expect  # noqa: E402

from tests.held_table import HeldTable  # noqa: E402
from tests.launched import chatty, launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.no_lane import no_lane  # noqa: E402
from tests.sharing import copies  # noqa: E402
from visualizations.text import t  # noqa: E402

TABS = 6
PATIENCE = 120_000


@pytest.fixture(scope="module")
def target() -> HeldTable:
    return HeldTable([0.4, 0.3, 0.2, 0.1])


@pytest.fixture(scope="module")
def app_url(pair_of: Any, target: HeldTable) -> Iterator[str]:
    pair = chatty(pair_of(target, HeldTable([0.1, 0.2, 0.3, 0.4]), eos_ids=[3]))
    with launched(only(pair), slots=TABS, share=copies()) as url:
        yield url


def test_six_tabs_run_at_once_for_none_that_is_idle_holds_a_connection(page: Page, app_url: str, target: HeldTable) -> None:
    tabs = [page, *(page.context.new_page() for _ in range(TABS - 1))]
    for tab in tabs:
        no_lane(tab)
        tab.goto(app_url)
        until_loaded(tab)
        tab.fill("#prompt textarea", "t0 t1")
    target.gate.clear()
    try:
        for tab in tabs:
            tab.click("#run")
        for tab in tabs:  # the models read the prompt of each, and none is through with it
            expect(tab.locator("#run-line p span")).to_have_text(t("app.reading"), timeout=PATIENCE)
    finally:
        target.gate.set()
    for tab in tabs:
        expect(tab.locator("#run-line p span")).to_contain_text("Finished", timeout=PATIENCE)
