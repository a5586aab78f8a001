"""The page without the plain lane, for tests that count what is run on the models, or hold them."""

from __future__ import annotations

from playwright.sync_api import Page

from visualizations.serving.first_pair import first_choice


def no_lane(page: Page) -> None:
    """From its next opening on, `page` has the lane's switch off, as a visitor left it."""
    page.add_init_script(f"sessionStorage.setItem('specdec/beside, {first_choice().key}', '[false]')")
