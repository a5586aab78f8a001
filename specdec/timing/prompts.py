"""What is decoded in a benchmark: a handful of prompts of our own, or a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from specdec.settings import BadInput

OWN = Path(__file__).with_name("prompts.txt")
OWN_KINDS = ("code", "explanation", "list", "story", "summary", "arithmetic")  # in the order of `own_prompts`


def own_prompts() -> list[str]:
    """One of each of `OWN_KINDS`: acceptance depends on the kind of text."""
    return read_prompts(OWN)


def read_prompts(path: Path, limit: int | None = None) -> list[str]:
    """Prompts of a file, in its order, at most `limit`, evenly picked.

    A .jsonl file has an object a line, with the prompt as the first of "turns" (as in Spec-Bench's
    question.jsonl) or as "prompt"; any other file has a prompt a line. Raises `BadInput`.
    """
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as fault:
        raise BadInput("{path} can't be read: {fault}.", path=path, fault=fault) from None
    prompts = [_of_object(path, number, line) for number, line in enumerate(lines, 1)] if path.suffix == ".jsonl" else lines
    if not prompts:
        raise BadInput("{path} holds no prompt.", path=path)
    return prompts if limit is None else evenly(prompts, limit)


def evenly(items: Sequence[str], limit: int) -> list[str]:
    """At most `limit` items at equal distances, so that a file sorted by kind gives some of each."""
    count = min(limit, len(items))
    return [items[index * len(items) // count] for index in range(count)]


def _of_object(path: Path, number: int, line: str) -> str:
    try:
        entry = json.loads(line)
        prompt = entry["turns"][0] if "turns" in entry else entry["prompt"]
    except (ValueError, LookupError, TypeError):
        prompt = None
    if not isinstance(prompt, str) or not prompt:
        raise BadInput('Line {number} of {path} has no "turns" and no "prompt".', number=number, path=path)
    return prompt
