"""Typing into a panel of the page that has only just been unfolded."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

TYPING_TRIES, SETTLING_MS = 5, 300


def type_in(box: Any, value: str) -> None:
    """Fill `box` until the value stays: the panel may still put its first value over what is typed."""
    for _ in range(TYPING_TRIES):
        box.fill(value)
        box.press("Tab")
        box.page.wait_for_timeout(SETTLING_MS)
        if box.input_value() == value:
            return
    expect(box).to_have_value(value)
