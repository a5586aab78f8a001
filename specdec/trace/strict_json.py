"""Records as strict JSON: no NaN, no Infinity, no unknown field, no value of another type."""

from __future__ import annotations

import functools
import json
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from specdec.settings import BadInput

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

    Raises `BadInput`, one sentence that calls it `name`, when it is longer than `limit` bytes or isn't one.
    """
    if len(text) > limit:
        raise BadInput(f"The {name} has {len(text):,} bytes; the limit is {limit:,}.")
    try:
        return _adapter(kind).validate_json(text)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"][:6]) or "the file"
        raise BadInput(f"This is not a {name}: {place}: {first['msg']}.") from None


@functools.cache
def _adapter(kind: type) -> TypeAdapter:
    return TypeAdapter(kind)
