"""What ties the page's address to Gradio's own components; all of it runs in the browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import gradio as gr

from visualizations.components.model_events import QUIET
from visualizations.links.component import PageLink
from visualizations.step_through.tab import StepThrough

# The keys of the page's tabs, as they stand in a link and as Gradio's ids of them.
TABS = ("step-through", "why-exact", "is-it-faster", "drafting", "lesson")

_EACH: dict[str, Any] = {"trigger_mode": "multiple", **QUIET}  # one address may follow another at once

_TELL_TAB = "() => { document.dispatchEvent(new CustomEvent('specdec:tab', {detail: {tab: %s}})); return []; }"
_TELL_FORM = "(...values) => { document.dispatchEvent(new CustomEvent('specdec:form', {detail: values})); return []; }"
# The link's script may come later than what it waits for.
_RECALLED = """() => {
  document.documentElement.dataset.recalled = "yes";
  document.dispatchEvent(new CustomEvent("specdec:recalled"));
  return [];
}"""
_TURN = "(link) => ({selected: link.tab, __type__: 'update'})"


def connect_links(link: PageLink, tabs: gr.Tabs, by_key: Mapping[str, gr.Tab], run: StepThrough) -> None:
    """Let `link` hear of the tab and of the form, and turn and fill them. by_key: the page's tabs by their keys."""
    form = [run.prompt, *run.form.components]
    for key, tab in by_key.items():
        tab.select(None, None, None, js=_TELL_TAB % json.dumps(key), **_EACH)
    gr.on([part.change for part in form], None, form, None, js=_TELL_FORM, **QUIET)
    run.recalled.then(None, None, None, js=_RECALLED, **QUIET)
    link.ask(None, form, None, js=_TELL_FORM, **_EACH)
    link.turn(None, link, tabs, js=_TURN, **_EACH)
    link.fill(None, link, form, js="(link) => link.form", **_EACH)
