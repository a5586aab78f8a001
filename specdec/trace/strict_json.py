"""Records as strict JSON: no NaN, no Infinity, no unknown field, no value of another type."""

from __future__ import annotations

import functools
import json
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import pydantic_core
from pydantic import ConfigDict, TypeAdapter, ValidationError

from specdec.settings import BadInput, Phrase, shown

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

R = TypeVar("R")


def to_dict(record: Any) -> dict[str, Any]:
    """A record, a pydantic dataclass, as plain dicts and lists."""
    return _adapter(type(record)).dump_python(record, mode="json")


def compact_json(plain: Any) -> str:
    """Plain dicts and lists as JSON without spaces; ValueError for NaN or Infinity."""
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def from_json(kind: type[R], text: str | bytes, *, name: str, limit: int) -> R:
    """Read a record back.

    Raises `BadInput`, one sentence that calls it `name`, when it is longer than `limit` bytes of UTF-8 or isn't one.
    """
    if not isinstance(text, (str, bytes)):
        raise BadInput("There is no {name} to read.", name=name)
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > limit:
        raise BadInput(
            "The {name} has {count:,} bytes; the limit is {limit:,}.", name=name, count=len(data), limit=limit
        )
    try:
        plain = pydantic_core.from_json(data, allow_inf_nan=False)
    except ValueError:
        raise BadInput("This is not a {name}: it is no strict JSON.", name=name) from None
    try:
        return _record(kind, plain)
    except _Misfit as misfit:
        place = ".".join(map(str, reversed(misfit.place))) or Phrase("the file")
        raise BadInput("This is not a {name}: {place}: {why}.", name=name, place=place, why=misfit.why) from None


class _Misfit(Exception):
    """A part that is not what its record says. place: its field, then what holds that, up to the file's own."""

    def __init__(self, why: str, *place: str | int):
        super().__init__(why)
        self.why, self.place = why, list(place)


def _record(kind: type[R], plain: Any) -> R:
    """A record from plain data, its innermost parts first.

    pydantic checks each record as it is made. Given the whole file it would gather every fault with a copy
    of what holds it, and a few megabytes of rubbish would cost gigabytes; so the first fault ends the reading.
    """
    if not isinstance(plain, dict):
        raise _Misfit(Phrase("it should be an object"))
    if unknown := plain.keys() - {field.name for field in fields(kind)}:
        raise _Misfit(Phrase("it is unknown"), shown(min(unknown)))
    parts = {name: _part(inner, plain[name], name) for name, inner in _inner(kind).items() if name in plain}
    try:
        return getattr(kind, "checked", kind)(**plain | parts)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False, include_context=False)[0]
        raise _Misfit(first["msg"], *reversed(first["loc"])) from None


def _part(kind: Any, plain: Any, name: str | int) -> Any:
    """A field's records and tuples made; what is of another type is left for its record to refuse."""
    try:
        if get_origin(kind) is tuple and isinstance(plain, list):
            item = get_args(kind)[0]
            return tuple(_part(item, one, place) for place, one in enumerate(plain))
        return _record(kind, plain) if is_dataclass(kind) and isinstance(plain, dict) else plain
    except _Misfit as misfit:
        misfit.place.append(name)
        raise


@functools.cache
def _inner(kind: type) -> dict[str, Any]:
    """The fields of a record that hold records or tuples, with what they hold when it isn't None."""
    found = {}
    for name, hint in get_type_hints(kind).items():
        for option in get_args(hint) if get_origin(hint) is UnionType else (hint,):
            if is_dataclass(option) or get_origin(option) is tuple:
                found[name] = option
    return found


@functools.cache
def _adapter(kind: type) -> TypeAdapter:
    return TypeAdapter(kind)
