"""`TableView`: several small tables with words around them. Everything is set through `textContent`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.scripts import script
from visualizations.figures.palette import css_variables
from visualizations.text import Piece

HERE = Path(__file__).parent
Said = Piece | list[Piece]


def table(
    columns: Sequence[Said],
    rows: Sequence[Sequence[Said]],
    *,
    title: str = "",
    intro: Said = "",
    caption: str = "",
    note: str = "",
    marked: int | None = None,
    tags: Sequence[str] = (),
) -> dict[str, Any]:
    """One entry of a `TableView`'s value.

    rows: texts, the first of each names its row. A text may be in pieces, with `data` in it. marked: index of a row to point at. tags: 'exact',
    'biased' or '' for each row. Without columns it is only words.
    """
    return {
        "title": title,
        "intro": intro,
        "caption": caption,
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "note": note,
        "marked": marked,
        "tags": list(tags),
    }


class TableView(gr.HTML):
    """Shows a list of `table` values."""

    def __init__(self, value: list[dict[str, Any]] | None = None, *, tags: dict[str, str], **kwargs: Any) -> None:
        super().__init__(
            value={"tables": value or []},
            html_template="<div class='tv'></div>",
            css_template=css_variables() + (HERE / "table_view.css").read_text("utf-8"),
            js_on_load=script(HERE / "table_view.js"),
            apply_default_css=False,
            tag_words=tags,
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
