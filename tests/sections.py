"""The sections of a tab, opened as a person does: through the contents line."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect


def link_to(page: Page, section: str) -> Locator:
    """What leads to the section in the contents line."""
    return page.locator(f'.contents a[href$="&section={section}"]')


def head_of(page: Page, section: str) -> Locator:
    """The button of a section that can be folded; its text is the title and the result."""
    return page.locator(f'[data-fold="{section}"]')


def result_of(page: Page, section: str) -> Locator:
    """What the section's head says it came to."""
    return head_of(page, section).locator(".fold-result")


def open_section(page: Page, section: str) -> None:
    """Through the contents line."""
    link_to(page, section).click()
    expect(head_of(page, section)).to_have_attribute("aria-expanded", "true")


def unfold(page: Page, section: str) -> None:
    """By its head, which a part has that stands on a page of its own too."""
    if head_of(page, section).get_attribute("aria-expanded") == "false":
        head_of(page, section).click()
    expect(head_of(page, section)).to_have_attribute("aria-expanded", "true")


def unfold_all(page: Page) -> None:
    """Every section of the tab that is shown, which has a contents line."""
    page.wait_for_selector(".contents:visible")
    page.wait_for_function("() => [...document.querySelectorAll('.fold-block')].every((block) => block.querySelector('[data-fold]'))")
    folded = page.locator('[data-fold][aria-expanded="false"]:visible')
    for section in folded.evaluate_all("(heads) => heads.map((head) => head.dataset.fold)"):
        unfold(page, section)
