"""Numbers to fill in, with the words that stand at `lesson.pages.<key>.blanks`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from visualizations.lesson.page import Blank
from visualizations.text import t


def written_blank(
    key: str, name: str, number: float, tolerance: float, wrong: Mapping[str, float], numbers: dict[str, Any]
) -> Blank:
    """The blank `name` of the page `key`. wrong: by the name of its reason, the number that a mistake gives."""

    def said(part: str) -> str:
        return t(f"lesson.pages.{key}.blanks.{name}.{part}", **numbers)

    mistakes = tuple((mistake, said(f"wrong.{reason}")) for reason, mistake in wrong.items())
    return Blank(said("said"), number, tolerance, said("why"), mistakes)
