"""The pages of the lesson in their order; each is a file that computes its answers and its numbers."""

from __future__ import annotations

from collections.abc import Callable

from visualizations.lesson.page import Page
from visualizations.lesson.pages.again_one import again_one_page
from visualizations.lesson.pages.again_two import again_two_page
from visualizations.lesson.pages.coin import coin_page
from visualizations.lesson.pages.faster import faster_page
from visualizations.lesson.pages.guess import guess_page
from visualizations.lesson.pages.length import length_page
from visualizations.lesson.pages.match import match_page
from visualizations.lesson.pages.refill import refill_page
from visualizations.lesson.pages.sets import sets_page
from visualizations.lesson.pages.sum import sum_page
from visualizations.lesson.pages.test import test_page
from visualizations.lesson.pages.waiting import waiting_page

PAGES: tuple[Callable[[], Page], ...] = (
    waiting_page,
    guess_page,
    coin_page,
    refill_page,
    sum_page,
    again_one_page,
    match_page,
    sets_page,
    test_page,
    faster_page,
    again_two_page,
    length_page,
)


def lesson_pages() -> tuple[Page, ...]:
    """All pages. It takes no torch: what they need of the engine is read from records."""
    return tuple(page() for page in PAGES)
