"""Keeping what a visitor typed while the page is opened again, as Gradio does when the server was away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import gradio as gr
from gradio.components import Component

from visualizations.components.model_events import QUIET

MEMORY_JS = (Path(__file__).parent / "memory.js").read_text("utf-8")


def keep(page: gr.Blocks, name: str, components: Sequence[Component]) -> None:
    """The values of `components`, whoever sets them, outlive a reload of the page. name: no other is kept under it."""
    key, kept = json.dumps(name), list(components)
    remember = f"(...values) => {{ {MEMORY_JS}\n remember({key}, values); return []; }}"
    recall = (
        f"() => {{ {MEMORY_JS}\n const values = recall({key});"
        f" return values && values.length === {len(kept)} ? values : []; }}"
    )
    gr.on([component.change for component in kept], None, kept, None, js=remember, **QUIET)
    page.load(None, None, kept, js=recall, **QUIET)
