"""Hands a text to the browser as a file to save; nothing of it is written on the server."""

from __future__ import annotations

import time
from mimetypes import MimeTypes
from pathlib import Path
from typing import Any

import gradio as gr

_TYPES = MimeTypes()  # the library's own list: what the machine thinks of an ending is its own affair


def file_value(name: str, text: str) -> dict[str, Any]:
    """The value of a `FileSaver`, of the MIME type that the name's ending has. turn tells two equal files apart."""
    kind, _ = _TYPES.guess_type(name)
    return {"name": name, "text": text, "type": kind or "text/plain", "turn": time.time()}


class FileSaver(gr.HTML):
    """Shows nothing. A new `file_value` is saved."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            value={},
            html_template="<span></span>",
            js_on_load=Path(__file__).with_suffix(".js").read_text("utf-8"),
            apply_default_css=False,
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
