"""Every sentence on screen, in JSON files with named {placeholders}."""

from visualizations.text.texts import LANGUAGES, section, t

__all__ = ["LANGUAGES", "section", "t"]
