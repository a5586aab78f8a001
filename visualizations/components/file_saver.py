"""Hands a text to the browser as a file to save; nothing of it is written on the server."""

from __future__ import annotations

from typing import Any

import gradio as gr

_SCRIPT = """
watch('value', () => {
  const file = props.value;
  if (!file || !file.text) return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([file.text], {type: 'application/json'}));
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});
"""


class FileSaver(gr.HTML):
    """Shows nothing. A new value {name, text, turn} is saved; turn tells two equal files apart."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(value={}, html_template="<span></span>", js_on_load=_SCRIPT, apply_default_css=False, **kwargs)

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}
