"""Look up the sentences of the screen.

`en.json` holds them by section; a key is the path through it joined by dots. A missing key raises, so
that a typing mistake is found by a test and not by a visitor.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

HERE = Path(__file__).parent
Piece = str | dict[str, str]  # {"data": text}: what a model or a person wrote
LANGUAGES = tuple(sorted(path.stem for path in HERE.glob("*.json")))


@cache
def _all(language: str) -> dict[str, Any]:
    return json.loads((HERE / f"{language}.json").read_text(encoding="utf-8"))


def section(key: str, language: str = "en") -> Any:
    """What stands at `key`, e.g. all sentences of "run_view" as nested dicts. Raises KeyError."""
    found: Any = _all(language)
    for part in key.split("."):
        if not isinstance(found, dict) or part not in found:
            raise KeyError(f"There is no text {key!r} in {language}.json.")
        found = found[part]
    return found


def t(key: str, language: str = "en", **values: Any) -> str:
    """The sentence at `key` with its {placeholders} filled. Raises KeyError when one is missing."""
    sentence = section(key, language)
    if not isinstance(sentence, str):
        raise KeyError(f"{key!r} is a group of texts, not a text.")
    return sentence.format(**values) if values else sentence


def data(text: str) -> dict[str, str]:
    """A text that a model or a person wrote, as a piece of a sentence: the page lets no translator touch it."""
    return {"data": text}


def pieces(key: str, language: str = "en", **values: Any) -> list[Piece]:
    """The sentence at `key` like `t`, in pieces: a value may be `data`, or pieces of its own."""
    said: list[Piece] = []
    for words, name, _, _ in Formatter().parse(t(key, language)):
        said.append(words)
        if name is not None:
            value = values[name]
            said += value if isinstance(value, list) else [value if isinstance(value, dict) else str(value)]
    return [piece for piece in said if piece]
