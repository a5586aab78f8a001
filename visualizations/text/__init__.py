"""Every sentence on screen, in JSON files with named {placeholders}."""

from visualizations.text.texts import LANGUAGES, Piece, data, pieces, section, t

__all__ = ["LANGUAGES", "Piece", "data", "pieces", "section", "t"]
