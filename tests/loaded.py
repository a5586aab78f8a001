"""A page whose models are loaded: until then it asks the server once a second how far they are."""

from __future__ import annotations

from playwright.sync_api import Page, expect

PATIENCE = 90_000


def until_loaded(page: Page) -> None:
    """Wait for the line that says so, wherever it stands: its tab may be another than the one on screen."""
    expect(page.locator("#models-line p.done")).to_be_attached(timeout=PATIENCE)
