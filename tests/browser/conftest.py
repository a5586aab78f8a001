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
    "--renderer-process-limit=1",  # what one page of a context has compiled, the next one has too
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
def _kept(browser) -> Iterator:
    """A context for pages that are opened one after the other; an empty one keeps their process and all it compiled."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.new_page()
    yield context
    context.close()


@pytest.fixture(scope="session")
def pages(browser) -> Iterator:
    """Where each test's own page is opened."""
    with _kept(browser) as context:
        yield context


@pytest.fixture(scope="session")
def shared_pages(browser) -> Iterator:
    """Where each file's shared page is: what it keeps there is no other test's."""
    with _kept(browser) as context:
        yield context


def _leave(context, origins: set[str]) -> None:
    """Close all but the empty page, and forget what they left: the next is as in another browser."""
    empty, *others = context.pages
    for page in others:
        if page.url.startswith("file:"):  # files have no origin to name
            page.evaluate("localStorage.clear()")
        page.close()
    session = context.new_cdp_session(empty)
    for origin in origins:
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "cookies,local_storage,indexeddb"})
    session.detach()
    context.clear_permissions()
    context.set_offline(False)


@contextmanager
def _watched(context) -> Iterator:
    """A page of 1280 x 900. At the end: no script error, no request to another host.

    `page.requests` lists the URLs asked for so far.
    """
    errors: list[str] = []
    asked: list = []
    page = context.new_page()
    page.requests = []

    def note(request) -> None:
        page.requests.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob"):
            asked.append(parts)

    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", note)
    page.set_default_timeout(20_000)
    yield page
    _leave(context, {f"{parts.scheme}://{parts.netloc}" for parts in asked if parts.hostname})
    assert errors == [], "the page threw errors"
    assert [parts.geturl() for parts in asked if parts.hostname not in LOCAL] == [], "the page asked other hosts"


@pytest.fixture
def page(pages) -> Iterator:
    """A page for one test; what it promises is in `_watched`."""
    with _watched(pages) as page:
        yield page


@pytest.fixture(scope="module")
def shared_page(shared_pages) -> Iterator:
    """The same for all tests of a file that leave it as they found it: opening the page takes longer than most of them."""
    with _watched(shared_pages) as page:
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
