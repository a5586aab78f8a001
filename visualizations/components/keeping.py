"""Keeping what a visitor typed while the page is opened again, as Gradio does when the server was away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import gradio as gr
from gradio.components import Component
from gradio.events import Dependency

from visualizations.components.model_events import QUIET
from visualizations.serving.first_pair import first_choice

MEMORY_JS = (Path(__file__).parent / "memory.js").read_text("utf-8")


def keep(page: gr.Blocks, name: str, components: Sequence[Component]) -> Dependency:
    """The values of `components`, whoever sets them, outlive a reload of the page. name: no other is kept under it.

    A page that opens with another pair of models begins afresh. The event that is returned puts them back.
    """
    kept, name = list(components), f"{name}, {first_choice().key}"
    gr.on([component.change for component in kept], None, kept, None, js=remember_script(name), **QUIET)
    return page.load(None, None, kept, js=recall_script(name, len(kept)), **QUIET)


def remember_script(name: str, values: str = "values") -> str:
    """A JavaScript function that keeps what an event gives it. values: an expression of them, null to forget."""
    return f"(...values) => {{ {MEMORY_JS}\n remember({json.dumps(name)}, {values}); return []; }}"


def recall_script(name: str, count: int) -> str:
    """A JavaScript function that gives the `count` values that were kept, or changes nothing."""
    kept = f"const values = recall({json.dumps(name)}); return values && values.length === {count} ? values : [];"
    return f"() => {{ {MEMORY_JS}\n {kept} }}"
