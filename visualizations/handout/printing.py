"""From a page of HTML to a PDF, through a browser of this machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from visualizations.text import t

# The first has no window and so no time to lose with one.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


class NoBrowser(RuntimeError):
    """There is no Chromium that prints. The message is one sentence, with what can be done."""


def print_pdf(pages: dict[Path, str]) -> None:
    """Write each HTML text as a PDF to its path. Raises `NoBrowser`."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise NoBrowser(t("handout.no_browser")) from None
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, BROWSERS)), playwright.chromium.executable_path)
        try:
            chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        except Error:
            raise NoBrowser(t("handout.no_browser")) from None
        page = chromium.new_page()
        for file, html in pages.items():
            file.write_bytes(pdf_of(page, html))
        chromium.close()


def pdf_of(page: Any, html: str) -> bytes:
    """The HTML text as a PDF. page: of Playwright, whose content is replaced."""
    page.set_content(html)
    return page.pdf(prefer_css_page_size=True, print_background=True)
