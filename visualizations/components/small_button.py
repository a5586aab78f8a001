"""The style of Gradio's small buttons, for components that have buttons of their own."""

from pathlib import Path

SMALL_BUTTON_CSS = Path(__file__).with_suffix(".css").read_text("utf-8")
