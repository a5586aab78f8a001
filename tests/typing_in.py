"""Typing into a panel of the page that has only just been unfolded."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from visualizations.text import t

TYPING_TRIES, SETTLING_MS = 5, 300


def seed_box(page: Page) -> Any:
    """The box of the seed, whether the settings are unfolded or not."""
    return page.locator("#settings").get_by_label(t("app.seed.label"), exact=True)


def type_in(box: Any, value: str) -> None:
    """Fill `box` until the value stays: the panel may still put its first value over what is typed."""
    for _ in range(TYPING_TRIES):
        box.fill(value)
        box.press("Tab")
        box.page.wait_for_timeout(SETTLING_MS)
        if box.input_value() == value:
            return
    expect(box).to_have_value(value)
