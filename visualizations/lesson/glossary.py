"""Every word of the app in English and Chinese side by side, with one line of meaning."""

from __future__ import annotations

from typing import Any

from visualizations.components.table_view import TableView, table
from visualizations.text import section, t

TERMS = "lesson.glossary.terms"


def glossary_table() -> dict[str, Any]:
    """The table for a `TableView`: both names of each term side by side, whatever the reader's language."""
    columns = [t(f"lesson.glossary.{name}") for name in ("english", "chinese", "sign", "meaning")]
    english, chinese, terms = section(TERMS, "en"), section(TERMS, "zh"), section(TERMS)
    rows = [[english[key]["name"], chinese[key]["name"], term["sign"], term["is"]] for key, term in terms.items()]
    return table(columns, rows, title=t("lesson.glossary.title"))


def build_glossary() -> TableView:
    """The glossary, in the column that is open."""
    return TableView([glossary_table()], tags={}, elem_id="lesson-glossary")
