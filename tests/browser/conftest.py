"""Chromium for the browser tests. Without one they are skipped, or fail where SPECDEC_REQUIRE_BROWSER=1."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

REQUIRED = os.environ.get("SPECDEC_REQUIRE_BROWSER") == "1"
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-default-apps", "--disable-sync", "--no-first-run",
)  # fmt: skip
# The first has no window and so no time to lose with one.
SYSTEM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LOCAL = (None, "", "localhost", "127.0.0.1")  # a file has no host


def _missing(reason: str) -> None:
    if REQUIRED:
        pytest.fail(f"SPECDEC_REQUIRE_BROWSER=1, but {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """One Chromium for the session: the system's, or the one that Playwright installed."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        _missing("the package playwright is not installed")
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, SYSTEM)), playwright.chromium.executable_path)
        if not Path(path).exists():
            _missing("no Chromium was found (apt-get install chromium, or playwright install chromium)")
        try:
            chromium = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        except Error as error:
            _missing(f"Chromium does not start: {error.message.splitlines()[0]}")
        yield chromium
        chromium.close()


@contextmanager
def _watched(browser) -> Iterator:
    """A page of 1280 x 900. At the end: no script error, no request to another host.

    `page.requests` lists the URLs asked for so far.
    """
    errors: list[str] = []
    foreign: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.requests = []

    def note(request) -> None:
        page.requests.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.hostname not in LOCAL:
            foreign.append(request.url)

    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", note)
    page.set_default_timeout(20_000)
    yield page
    context.close()
    assert errors == [], "the page threw errors"
    assert foreign == [], "the page asked other hosts"


@pytest.fixture
def page(browser) -> Iterator:
    """A page for one test; what it promises is in `_watched`."""
    with _watched(browser) as page:
        yield page


@pytest.fixture(scope="module")
def shared_page(browser) -> Iterator:
    """The same for all tests of a file that leave it as they found it: opening the page takes longer than most of them."""
    with _watched(browser) as page:
        yield page


@pytest.fixture(scope="session")
def app_without_models() -> Iterator[str]:
    """The address of the whole app, where everything that was recorded is there and no model loads."""
    from specdec.settings import BadInput
    from tests.launched import launched

    def refuse(choice, progress):
        raise BadInput("No models here.")

    with launched(refuse) as url:
        yield url
