"""Every sentence on screen, in JSON files with named {placeholders}."""

from visualizations.text.texts import (
    LANGUAGES,
    Piece,
    data,
    in_language,
    kept_as_spoken,
    pieces,
    say,
    section,
    spoken,
    spoken_now,
    t,
)

__all__ = ["LANGUAGES", "Piece", "data", "in_language", "kept_as_spoken", "pieces", "say", "section", "spoken", "spoken_now", "t"]
