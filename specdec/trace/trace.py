"""The record of a whole run: what the screen draws, the API returns and a file keeps.

JSON is strict (no NaN, no Infinity, no unknown field), and what it promises is checked when it is read, so a
trace that was written here can be read back, and nothing else can.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic.dataclasses import dataclass

from specdec.settings import BadInput, Settings
from specdec.trace.identities import check_position, check_round
from specdec.trace.record import Metrics, Output, PairInfo, Position, Prompt, Round, metrics_of
from specdec.trace.strict_json import STRICT, compact_json, from_json, to_dict

SCHEMA = "specdec-trace/1"
MAX_JSON_BYTES = 4_000_000


@dataclass(frozen=True, config=STRICT)
class Trace:
    """A whole run. created: ISO 8601, UTC. dtype: of the target's weights. seed: also in settings."""

    schema: Literal["specdec-trace/1"]
    created: str
    pair: PairInfo
    device: str
    dtype: str
    settings: Settings
    seed: int
    prompt: Prompt
    rounds: tuple[Round, ...]
    output: Output
    metrics: Metrics

    @property
    def positions(self) -> tuple[Position, ...]:
        """All positions in reading order, discarded drafts included."""
        return tuple(position for round_ in self.rounds for position in round_.positions)

    def to_json(self) -> str:
        """Strict JSON; fields that say nothing (special: false, bytes: null) are left out."""
        return compact_json(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The JSON as plain dicts and lists."""
        return _without_silent_fields(to_dict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Trace:
        """Read a trace back. Raises `BadInput` with one sentence when it isn't a trace of this schema."""
        trace = from_json(cls, text, name=f"{SCHEMA} file", limit=MAX_JSON_BYTES)
        Settings.checked(**trace.settings.to_dict())
        check_identities(trace)
        return trace


def check_identities(trace: Trace) -> None:
    """Raise `BadInput` unless everything that a trace promises holds in it, sums to 1e-5.

    Per position: what a draft has is there exactly where one was made; the candidates hold the marked ids;
    p sums to 1; where a draft was scored q sums to 1, overlap + residual_mass = 1, both agree with the
    candidates, and every probability lies in [0, 1]. Per round: the counts are those of its positions,
    which stand in the order in which a round fills them. Over the run: the emitted ids and texts are the
    output's.
    """
    start = 0  # the counts first: metrics over a count that nothing stands behind need not end
    for index, round_ in enumerate(trace.rounds):
        check_round(index, round_, start)
        start += round_.emitted
    emitted = [p for p in trace.positions if p.kind != "discarded"]
    if tuple(p.token_id for p in emitted) != trace.output.ids:
        raise BadInput("The trace's rounds and its output hold different ids.")
    if "".join(p.text for p in emitted) != trace.output.text:
        raise BadInput("The trace's rounds and its output hold different texts.")
    if len(trace.prompt.ids) != len(trace.prompt.tokens):
        raise BadInput("The trace's prompt has not one token for each id.")
    if trace.seed != trace.settings.seed:
        raise BadInput(f"The trace's seed is {trace.seed} in one place and {trace.settings.seed} in another.")
    if trace.metrics != metrics_of(trace.rounds, trace.metrics.prefill_seconds):
        raise BadInput("The trace's metrics are not those of its rounds.")
    for index, position in enumerate(trace.positions):
        check_position(index, position)


_SILENT = {"special": False, "bytes": None}


def _without_silent_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_silent_fields(v) for k, v in value.items() if not (k in _SILENT and v == _SILENT[k])}
    if isinstance(value, list):
        return [_without_silent_fields(item) for item in value]
    return value
