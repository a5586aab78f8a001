"""Look up the sentences of the screen.

`en.json` holds them by section, its twins hold them in other languages; a key is the path through it joined by dots. A
missing key raises, so that a typing mistake is found by a test and not by a visitor. What the engine says for a person
it says in English, in phrases (`specdec.settings.Phrase`); `phrases_zh.json` holds their templates in Chinese.

A page that can be read in several languages says everything in all of them at once (`spoken`): such a text holds its
versions between three private signs, and `languages.js` shows the reader's. Whoever joins, keeps or sends texts needn't
know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from pathlib import Path
from string import Formatter
from typing import Any, TypeVar

from specdec.settings import Phrase

HERE = Path(__file__).parent
Piece = str | dict[str, Any]  # {"data": text}: what a model or a person wrote; {"in": {language: pieces}}
LANGUAGES = ("en", "zh")  # in the order of a text's versions
OPEN, NEXT, CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
_SEVERAL = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
_spoken: ContextVar[tuple[str, ...]] = ContextVar("spoken", default=LANGUAGES[:1])
Made = TypeVar("Made")


@contextmanager
def spoken(languages: Sequence[str]) -> Iterator[None]:
    """Inside, every text is said in `languages`: one of `LANGUAGES`, or all of them. Outside, in English."""
    before = _spoken.set(tuple(languages))
    try:
        yield
    finally:
        _spoken.reset(before)


def spoken_now() -> tuple[str, ...]:
    """The languages of `spoken`, for whoever says something in their place elsewhere."""
    return _spoken.get()


def kept_as_spoken(make: Callable[[], Made]) -> Callable[[], Made]:
    """What `make()` says is made once for each way in which texts are spoken; `cache_clear()` forgets it."""
    kept = cache(lambda languages: make())
    made = wraps(make)(lambda: kept(_spoken.get()))
    made.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
    return made


def section(key: str, language: str | None = None) -> Any:
    """What stands at `key`, e.g. all sentences of "run_view" as nested dicts. Raises KeyError.

    language: one that isn't spoken now.
    """
    if language is not None:
        return _written(key, language)
    return _together([_written(key, each) for each in _spoken.get()])


def t(key: str, **values: Any) -> str:
    """The sentence at `key` with its {placeholders} filled. Raises KeyError when one is missing."""
    return _together([_sentence(key, language, values) for language in _spoken.get()])


def say(text: str) -> str:
    """A `Phrase` of the engine, such as the one that a `BadInput` holds; any other text stays as it is."""
    return _together([in_language(text, language) for language in _spoken.get()])


def in_language(said: Any, language: str) -> Any:
    """Plain data with every text in it as it is said in `language` alone."""
    if isinstance(said, Phrase):
        template = _phrases(language).get(said.template, said.template)
        return template.format(**in_language(said.values, language)) if said.values else in_language(template, language)
    if isinstance(said, str):
        place = LANGUAGES.index(language)
        return _SEVERAL.sub(lambda found: dict(enumerate(found[1].split(NEXT))).get(place, ""), said)
    if isinstance(said, dict):
        return {key: in_language(value, language) for key, value in said.items()}
    return [in_language(item, language) for item in said] if isinstance(said, list | tuple) else said


def data(text: str) -> dict[str, str]:
    """A text that a model or a person wrote, as a piece of a sentence: the page lets no translator touch it."""
    return {"data": text}


def pieces(key: str, **values: Any) -> list[Piece]:
    """The sentence at `key` like `t`, in pieces: a value may be `data`, or pieces of its own."""
    said = {language: _pieces(_written(key, language), values) for language in _spoken.get()}
    return [{"in": said}] if len(said) > 1 else next(iter(said.values()))


@cache
def _all(language: str) -> dict[str, Any]:
    return json.loads((HERE / f"{language}.json").read_text(encoding="utf-8"))


@cache
def _phrases(language: str) -> dict[str, str]:
    """What stands for each English template of the engine; one that is missing is said in English."""
    return {} if language == "en" else json.loads((HERE / f"phrases_{language}.json").read_text(encoding="utf-8"))


def _written(key: str, language: str) -> Any:
    found: Any = _all(language)
    for part in key.split("."):
        if not isinstance(found, dict) or part not in found:
            raise KeyError(f"There is no text {key!r} in {language}.json.")
        found = found[part]
    return found


def _sentence(key: str, language: str, values: dict[str, Any]) -> str:
    sentence = _written(key, language)
    if not isinstance(sentence, str):
        raise KeyError(f"{key!r} is a group of texts, not a text.")
    return sentence.format(**in_language(values, language)) if values else sentence


def _together(versions: list[Any]) -> Any:
    """Texts of the same shape, one in each language, as one."""
    first = versions[0]
    if isinstance(first, dict):
        return {key: _together([version[key] for version in versions]) for key in first}
    if isinstance(first, list):
        return [_together(list(items)) for items in zip(*versions, strict=True)]
    return first if all(version == first for version in versions) else OPEN + NEXT.join(versions) + CLOSE


def _pieces(sentence: str, values: dict[str, Any]) -> list[Piece]:
    said: list[Piece] = []
    for words, name, _, _ in Formatter().parse(sentence):
        said.append(words)
        if name is not None:
            value = values[name]
            said += value if isinstance(value, list) else [value if isinstance(value, dict) else str(value)]
    return [piece for piece in said if piece]
