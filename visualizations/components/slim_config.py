"""What Gradio sends when a page is opened, less what it has no use for: many open it at once."""

from __future__ import annotations

import hashlib
from typing import Any

_GIVEN = "element, trigger, props, server, upload, watch"  # what Gradio gives a component's script


def slim(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a Gradio page with every component's script moved to its head, where it stands once.

    Gradio adds the head before it makes any component.
    """
    programs: dict[str, str] = {}
    components = [_calling(component, programs) for component in config["components"]]
    functions = ",\n".join(f'"{name}": function ({_GIVEN}) {{\n{program}\n}}' for name, program in programs.items())
    head = f"<script>window.specdecPrograms = {{{functions}}};</script>"
    return {**config, "components": components, "head": head + (config.get("head") or "")}


def _calling(component: dict[str, Any], programs: dict[str, str]) -> dict[str, Any]:
    program = component["props"].get("js_on_load")
    if not program:
        return component
    name = hashlib.sha256(program.encode()).hexdigest()[:16]
    programs[name] = program
    call = f'window.specdecPrograms["{name}"]({_GIVEN});'
    return {**component, "props": {**component["props"], "js_on_load": call}}
