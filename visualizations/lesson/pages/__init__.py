"""The pages of the lesson in their order; each is a file that computes its answers and its numbers."""

from __future__ import annotations

from collections.abc import Callable

from visualizations.lesson.page import Page
from visualizations.lesson.pages.waiting import waiting_page

PAGES: tuple[Callable[[], Page], ...] = (waiting_page,)


def lesson_pages() -> tuple[Page, ...]:
    """All pages. It takes no torch: what they need of the engine is read from records."""
    return tuple(page() for page in PAGES)
