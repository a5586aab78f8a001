"""Every word of the app in English and Chinese side by side, with one line of meaning."""

from __future__ import annotations

from typing import Any

from visualizations.components.table_view import TableView, table
from visualizations.text import section, t


def glossary_table() -> dict[str, Any]:
    """The table for a `TableView`. Each term holds both its names, which stand side by side in either language."""
    columns = [t(f"lesson.glossary.{name}") for name in ("english", "chinese", "sign", "meaning")]
    rows = [[term["en"], term["zh"], term["sign"], term["is"]] for term in section("lesson.glossary.terms").values()]
    return table(columns, rows, title=t("lesson.glossary.title"))


def build_glossary() -> TableView:
    """The glossary, in the column that is open."""
    return TableView([glossary_table()], tags={}, elem_id="lesson-glossary")
