"""The app's blocks as plain HTML, in the order and with the names that Gradio gives them.

What isn't seen at first (a tab that isn't open, a column that is made later) lies in a <template>, and its components
are made when it is taken out of there: see site.js.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

import gradio as gr
from gradio.blocks import Block
from markdown_it import MarkdownIt

from visualizations.components.languages.component import TAGS
from visualizations.site.kept import kept
from visualizations.text import LANGUAGES, in_language

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
_FORMULA = re.compile(r"\$([^$\n]+)\$")
_FORMULA_AS_CODE = re.compile(r"<code>\$(.+?)\$</code>")


def page_html(root: Block) -> str:
    """All that is kept below `root`."""
    return _inside(root)


def prose_html(text: str, dollars: bool = False) -> str:
    """Markdown in each of its languages. dollars: whether they enclose formulas."""
    said = [f'<div data-said="{each}">{_rendered(in_language(text, each), dollars)}</div>' for each in LANGUAGES]
    return "".join(said)


def language_css() -> str:
    """Hides prose that isn't in the page's language."""
    return "".join(f":root:not([lang='{TAGS[each]}']) [data-said='{each}'] {{ display: none; }}\n" for each in LANGUAGES)


def _inside(block: Block) -> str:
    return "".join(_html(child) for child in getattr(block, "children", ()) if kept(child))


def _html(block: Block) -> str:
    for kind, draw in _DRAWN.items():
        if isinstance(block, kind):
            return draw(block)
    raise TypeError(f"A page without a server can't show {type(block).__name__}.")


def _attributes(block: Block, *classes: str) -> str:
    names = " ".join([*classes, *(block.elem_classes or [])])
    return (f'id="{escape(block.elem_id)}" ' if block.elem_id else "") + f'class="{escape(names)}"'


def _component(block: gr.HTML) -> str:
    inner = block.html_template.replace("@children", _inside(block))
    box = f'<div id="part-{block._id}" data-part="{block._id}">{inner}</div>'
    return f'<div {_attributes(block, "block")}><div class="html-container">{box}</div></div>'


def _prose(block: gr.Markdown) -> str:
    dollars = any(sign["left"] == "$" for sign in block.latex_delimiters or ())
    return f'<div {_attributes(block, "prose")}>{prose_html(block.value, dollars)}</div>'


def _rendered(text: str, dollars: bool) -> str:
    if not dollars:
        return _MARKDOWN.render(text)
    html = _MARKDOWN.render(_FORMULA.sub(r"`$\1$`", text))
    return _FORMULA_AS_CODE.sub(r'<span class="formula">\1</span>', html)


def _button(block: gr.Button) -> str:
    return f'<button type="button" data-block="{block._id}" {_attributes(block, block.size, block.variant)}>{escape(block.value)}</button>'


def _row(block: gr.Row) -> str:
    inner = _inside(block)
    return f'<div {_attributes(block, "row")}>{inner}</div>' if inner else ""


def _column(block: gr.Column) -> str:
    inner = _inside(block)
    if not inner:
        return ""
    width = f"flex: {block.scale} 1 0; min-width: min({block.min_width}px, 100%)"
    column = f'<div {_attributes(block, "column")} style="{width}">{inner}</div>'
    return column if block.visible else f'<template data-block="{block._id}">{column}</template>'


def _accordion(block: gr.Accordion) -> str:
    opened = " open" if block.open else ""
    return f'<details {_attributes(block, "block accordion")}{opened}><summary>{escape(block.label)}</summary>{_inside(block)}</details>'


def _tabs(block: gr.Tabs) -> str:
    tabs = [child for child in block.children if isinstance(child, gr.Tab)]
    heads = "".join(_tab_head(tab, tab is tabs[0]) for tab in tabs)
    panels = "".join(_panel(tab, tab is tabs[0]) for tab in tabs)
    return f'<div class="tabs" data-block="{block._id}"><div class="tab-container" role="tablist">{heads}</div>{panels}</div>'


def _tab_head(tab: gr.Tab, first: bool) -> str:
    state = 'class="selected" aria-selected="true"' if first else 'aria-selected="false"'
    return (
        f'<button type="button" role="tab" id="{tab.id}-head" aria-controls="{tab.id}-panel" data-tab-id="{tab.id}" {state}>'
        f"{escape(tab.label)}</button>"
    )


def _panel(tab: gr.Tab, first: bool) -> str:
    state, inner = ("", _inside(tab)) if first else (" hidden", f"<template>{_inside(tab)}</template>")
    begin = f'<div role="tabpanel" id="{tab.id}-panel" aria-labelledby="{tab.id}-head" data-block="{tab._id}"{state}>'
    return f"{begin}{inner}</div>"


_DRAWN: dict[type, Any] = {
    gr.HTML: _component,
    gr.Markdown: _prose,
    gr.Button: _button,
    gr.Row: _row,
    gr.Column: _column,
    gr.Accordion: _accordion,
    gr.Tabs: _tabs,
}
