"""From the texts of a page and the numbers that were computed for it to the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradio.components import Component

from visualizations.lesson.page import Asked, Blanks, Choice, Option, Page
from visualizations.text import section, t

TEXTS = "lesson.pages"


def written_page(
    key: str,
    figure: Callable[[], Component],
    answer: Choice | Blanks | None,
    numbers: dict[str, Any],
    covered: bool = False,
) -> Page:
    """The page whose texts stand at `lesson.pages.<key>`, with `numbers` in their placeholders."""

    def said(name: str) -> str:
        return t(f"{TEXTS}.{key}.{name}", **numbers)

    asked = tuple(
        Asked(said(f"asked.{name}.question"), said(f"asked.{name}.answer")) for name in section(f"{TEXTS}.{key}.asked")
    )
    return Page(key, said("title"), said("words"), figure, said("task"), answer, said("reason"), asked, covered)


def written_choice(key: str, right: str, numbers: dict[str, Any]) -> Choice:
    """The options that stand at `lesson.pages.<key>.options`, in their order. right: the name of the right one."""
    place = f"{TEXTS}.{key}.options"
    return Choice(
        tuple(
            Option(t(f"{place}.{name}.said", **numbers), t(f"{place}.{name}.why", **numbers), name == right)
            for name in section(place)
        )
    )
