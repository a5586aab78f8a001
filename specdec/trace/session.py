"""A session: the runs that somebody made, each with the one that it goes on from and what was changed there.

A trace holds one run; a session holds the tree.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic.dataclasses import dataclass

from specdec.settings import BadInput, Phrase, shown
from specdec.trace.strict_json import STRICT, compact_json, from_json, to_dict
from specdec.trace.trace import MAX_JSON_BYTES, Trace, check_identities, check_settings, without_silent_fields

SCHEMA = "specdec-session/1"
MAX_RUNS = 200
MAX_NAME = 80

Kind = Literal["replay", "coin", "draft", "token", "forced"]


@dataclass(frozen=True, config=STRICT)
class Change:
    """What is changed at a place of a run.

    replay: nothing; the round is decoded again. coin, draft, token: the number in (0, 1) that is held against the
    accept probability there, that draws the draft there, or that draws the token behind the round's kept drafts.
    forced: the token id that comes out there, whatever was drawn; the round ends with it.
    """

    kind: Kind = "replay"
    value: float | int | None = None


@dataclass(frozen=True, config=STRICT)
class Origin:
    """Where a branch goes on from: position `at` of run number `parent`, with `change`."""

    parent: int
    at: int
    change: Change


@dataclass(frozen=True, config=STRICT)
class SessionRun:
    """A run and its name, 1 to `MAX_NAME` characters. origin: None for one that began with its prompt."""

    name: str
    trace: Trace
    origin: Origin | None = None


@dataclass(frozen=True, config=STRICT)
class Session:
    """At most `MAX_RUNS` runs, each behind the one that it goes on from."""

    schema: Literal["specdec-session/1"]
    runs: tuple[SessionRun, ...]

    def to_json(self) -> str:
        """Strict JSON, each trace in it as in a file of its own."""
        return compact_json(without_silent_fields(to_dict(self)))

    @classmethod
    def from_json(cls, text: str | bytes) -> Session:
        """Read a session back.

        Raises `BadInput` with one sentence when it isn't one of at most `MAX_JSON_BYTES`, or contradicts itself.
        """
        session = from_json(cls, text, name=Phrase("{schema} file", schema=SCHEMA), limit=MAX_JSON_BYTES)
        check_session(session)
        for run in session.runs:
            check_identities(run.trace)
            check_settings(run.trace)
        return session


def check_session(session: Session) -> None:
    """Raise `BadInput` unless the names can be shown and each branch has a parent before it with such a place."""
    if not 1 <= len(session.runs) <= MAX_RUNS:
        raise BadInput("A session holds 1 to {most} runs, not {count}.", most=MAX_RUNS, count=len(session.runs))
    for number, run in enumerate(session.runs):
        if not 1 <= len(run.name) <= MAX_NAME:
            raise BadInput(
                "Run {number} of the session has no name of 1 to {longest} characters.", number=number, longest=MAX_NAME
            )
        origin = run.origin
        if origin is None:
            continue
        if not 0 <= origin.parent < number:
            raise BadInput(
                "Run {number} of the session goes on from run {parent}, which is not before it.",
                number=number, parent=shown(origin.parent),
            )
        positions = len(session.runs[origin.parent].trace.positions)
        if not 0 <= origin.at < positions:
            raise BadInput(
                "Run {number} of the session goes on from position {at} of {positions}.",
                number=number, at=shown(origin.at), positions=positions,
            )


def is_session(data: Any) -> bool:
    """Whether a file calls itself a session; what else is wrong with it is for `Session.from_json` to say."""
    start = data[:200] if isinstance(data, (bytes, str)) else b""
    return SCHEMA in (start.decode("utf-8", "replace") if isinstance(start, bytes) else start)
