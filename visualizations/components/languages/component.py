"""`LanguageSwitch`: the reader's language, chosen without a reload; `Page`: a page that says everything in all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction

from visualizations.components.model_events import QUIET
from visualizations.components.scripts import script
from visualizations.components.slim_config import slim
from visualizations.components.visitors_config import PageConfig
from visualizations.text import LANGUAGES, section, spoken, t
from visualizations.text.texts import OPEN

HERE = Path(__file__).parent
TAGS = {language: section("page.tag", language) for language in LANGUAGES}  # as browsers and screen readers know them
_FOR_THE_PAGE = "private"
_ANEW = "() => %s.map((id) => ({...window.specdecLanguages.stockOf(id), __type__: 'update'}))"


class Page(gr.Blocks):
    """Blocks whose events speak all languages; who calls its public endpoints is answered in English."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.default_config = PageConfig(self)

    async def process_api(self, block_fn: BlockFunction | int, *values: Any, **named: Any) -> dict[str, Any]:
        """As Gradio does it."""
        event = self.fns[block_fn] if isinstance(block_fn, int) else block_fn
        with spoken(LANGUAGES if event.api_visibility == _FOR_THE_PAGE else LANGUAGES[:1]):
            return await super().process_api(block_fn, *values, **named)

    def get_config_file(self) -> dict[str, Any]:
        """As Gradio makes it, made slim, and without the stream of an open page: see `visualizations.serving.leaving`."""
        return slim(super().get_config_file()) | {"connect_heartbeat": False}


class LanguageSwitch(gr.HTML):
    """A button for each language, each in its own words."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            value={},
            html_template="<div class='ls' role='group'></div>",
            css_template=(HERE / "switch.css").read_text("utf-8"),
            js_on_load=script(HERE / "switch.js"),
            apply_default_css=False,
            group=t("app.language.group"),
            names={language: t(f"app.language.{language}") for language in LANGUAGES},
            tags=TAGS,
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}

    def renew(self, page: gr.Blocks) -> None:
        """Let a choice reach those of Gradio's own components of `page` that are given their words as values."""
        stock = [block for block in page.blocks.values() if _holds_words(block)]
        self.spoken(None, None, stock, js=_ANEW % json.dumps([block._id for block in stock]), **QUIET)


def _holds_words(block: Any) -> bool:
    if not isinstance(block, gr.Dropdown | gr.Markdown | gr.Tab):
        return False
    return OPEN in json.dumps(block.get_config(), ensure_ascii=False, default=str)


def languages_head() -> str:
    """The script for the page's head that shows each text in the reader's language."""
    with spoken(LANGUAGES):
        texts = json.dumps({"languages": LANGUAGES, "names": TAGS, "title": t("app.title")}, ensure_ascii=True)
    return f"<script data-texts='{texts}'>{(HERE / 'languages.js').read_text('utf-8')}</script>"
