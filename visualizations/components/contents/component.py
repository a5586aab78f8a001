"""`Contents`: a line that stays in view and leads to the sections of a tab, each by a link that can be passed on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from visualizations.components.scripts import script
from visualizations.text import t

HERE = Path(__file__).parent


class Contents(gr.HTML):
    """Leads to the sections of a tab: [(the elem_id of a section, what the line calls it)].

    of_tab: what addresses call the tab: a section's link is "#tab=<tab>&section=<elem_id>". A jump opens the section if
    it is folded. The DOM event `specdec:section` on the document, with the detail {id}, jumps as well.
    """

    def __init__(self, of_tab: str, sections: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(
            value=[list(section) for section in sections],
            html_template="<nav class='contents'></nav>",
            css_template=(HERE / "contents.css").read_text("utf-8"),
            js_on_load=script(HERE / "contents.js"),
            apply_default_css=False,
            elem_classes="contents-line",
            name=t("contents.name"),
            tab=of_tab,
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is a list, not the text that gr.HTML announces."""
        return {"type": "array"}
