"""The style of the four meanings' fills, for components that draw bars of their own."""

from pathlib import Path

FILLS_CSS = Path(__file__).with_suffix(".css")
