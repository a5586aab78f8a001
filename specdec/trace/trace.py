"""The record of a whole run: what the screen draws, the API returns and a file keeps.

JSON is strict (no NaN, no Infinity, no unknown field), and what it promises is checked when it is read, so a
trace that was written here can be read back, and nothing else can.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic.dataclasses import dataclass

from specdec.settings import BadInput, Phrase, Settings, shown
from specdec.trace.drafted import check_tells_drafting
from specdec.trace.ending import check_ending
from specdec.trace.identities import check_ids, check_position
from specdec.trace.laws import check_laws
from specdec.trace.record import (
    Limits,
    Metrics,
    Output,
    PairInfo,
    Position,
    Prompt,
    Resumed,
    Round,
    metrics_of,
)
from specdec.trace.rounds import check_round, check_sharing, check_times
from specdec.trace.strict_json import STRICT, compact_json, from_json, to_dict
from specdec.trace.verdicts import check_verdicts

SCHEMA, FIRST_SCHEMA = "specdec-trace/2", "specdec-trace/1"
# Room for the longest run that settings allow, with tokens of 256 bytes wherever one is named, and for a prompt of
# the most characters, each of them four tokens.
MAX_JSON_BYTES = 40_000_000
_LARGEST_VOCABULARY = 2**31
_MOST_DRAWN = 2**31


@dataclass(frozen=True, config=STRICT)
class Trace:
    """A whole run. created: ISO 8601, UTC. dtype: of the target's weights. seed: also in settings.

    limits: None in a file from before they were kept. resumed: None for a run that began with its prompt.
    """

    schema: Literal["specdec-trace/1", "specdec-trace/2"]
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
    limits: Limits | None = None
    resumed: Resumed | None = None

    @property
    def positions(self) -> tuple[Position, ...]:
        """All positions in reading order, discarded drafts included."""
        return tuple(position for round_ in self.rounds for position in round_.positions)

    def to_json(self) -> str:
        """Strict JSON; fields that say nothing (special: false, bytes: null, limits: null) are left out."""
        return compact_json(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The JSON as plain dicts and lists."""
        return without_silent_fields(to_dict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Trace:
        """Read a trace back.

        Raises `BadInput` with one sentence when it isn't a trace of this schema of at most `MAX_JSON_BYTES`, or
        contradicts itself.
        """
        trace = from_json(cls, text, name=Phrase("{schema} file", schema=SCHEMA), limit=MAX_JSON_BYTES)
        check_identities(trace)
        check_settings(trace)
        return trace


def check_identities(trace: Trace) -> None:
    """Raise `BadInput` unless everything holds that a trace promises whatever its settings, sums to 1e-5.

    Per position: what a draft has is there exactly where one was made; the candidates hold the marked ids, all of
    the vocabulary; p sums to 1; where a draft was scored q sums to 1, overlap + residual_mass = 1, both agree with
    the candidates, and every probability lies in [0, 1]. Per round: the counts are those of its positions,
    which stand in the order in which a round fills them. Over the run: the emitted ids and texts are the
    output's.
    """
    vocab_size = trace.pair.vocab_size
    if not 0 < vocab_size <= _LARGEST_VOCABULARY:
        raise BadInput("The trace's vocab_size is {vocab_size}, which no vocabulary has.", vocab_size=shown(vocab_size))
    start = 0  # the counts first: metrics over a count that nothing stands behind need not end
    for index, round_ in enumerate(trace.rounds):
        check_round(index, round_, start)
        start += round_.emitted
    emitted = [p for p in trace.positions if p.kind != "discarded"]
    if tuple(p.token_id for p in emitted) != trace.output.ids:
        raise BadInput("The trace's rounds and its output hold different ids.")
    if "".join(p.text for p in emitted) != trace.output.text:
        raise BadInput("The trace's rounds and its output hold different texts.")
    check_ids(Phrase("The trace's prompt"), trace.prompt.ids, vocab_size)
    if not trace.prompt.ids or tuple(token.id for token in trace.prompt.tokens) != trace.prompt.ids:
        raise BadInput("The trace's prompt has not one token for each id.")
    if trace.seed != trace.settings.seed:
        raise BadInput(
            "The trace's seed is {seed} in one place and {other} in another.",
            seed=shown(trace.seed), other=trace.settings.seed,
        )
    if trace.metrics != metrics_of(trace.rounds, trace.metrics.prefill_seconds):
        raise BadInput("The trace's metrics are not those of its rounds.")
    for index, position in enumerate(trace.positions):
        check_position(index, position, vocab_size)


def check_settings(trace: Trace) -> None:
    """Raise `BadInput` unless the run is one that its settings may give.

    Its laws may come from the temperature, top-k and top-p; the coins decide as the rule has it, by accept
    probabilities that follow from p and q; each token drawn lies where its uniform falls; as many are drafted as
    gamma says, and the run ends for the reason named. Expects that `check_identities` has passed.
    """
    settings, limits = trace.settings, trace.limits
    _check_heading(trace)
    check_tells_drafting(trace.schema == FIRST_SCHEMA, settings, trace.rounds)
    if limits is None and trace.schema != FIRST_SCHEMA:
        raise BadInput("The trace tells no limits, which its schema has.")
    check_sharing(trace.schema == FIRST_SCHEMA, trace.rounds)
    check_times(trace.rounds, trace.metrics.prefill_seconds)
    _check_resumed(trace.resumed, len(trace.prompt.ids))
    check_ending(settings, trace.prompt, trace.rounds, trace.output, limits, trace.resumed)
    for index, position in enumerate(trace.positions):
        check_laws(index, position, settings, trace.pair.vocab_size)
    for index, round_ in enumerate(trace.rounds):
        check_verdicts(index, round_, settings, limits.eos_ids if limits else None)


def _check_resumed(resumed: Resumed | None, prompt_length: int) -> None:
    if resumed is None:
        return
    if not 0 <= resumed.written < prompt_length:
        raise BadInput(
            "The trace's prompt has {prompt:,} tokens, of which {written} cannot be output.",
            prompt=prompt_length, written=shown(resumed.written),
        )
    if min(resumed.drafts, resumed.coins, resumed.resampling) < 0 or max(resumed.drafts, resumed.coins) > _MOST_DRAWN:
        raise BadInput("The trace goes on from a place that its seed's streams cannot have reached.")


def _check_heading(trace: Trace) -> None:
    try:
        utc = datetime.fromisoformat(trace.created).utcoffset() == timedelta()
    except ValueError:
        utc = False
    if not utc:
        raise BadInput("The trace was created at {created}, which is no time in UTC.", created=shown(trace.created))
    by_model = trace.settings.with_draft_model
    if (trace.pair.draft is not None) != by_model:
        raise BadInput("The trace's pair names a draft model where none took part, or none where one did.")
    if trace.limits and (trace.limits.draft_length is not None) != by_model:
        raise BadInput("The trace's limits tell a draft model's length where none took part, or none where one did.")
    if trace.limits and min(trace.limits.eos_ids, default=0) < 0:
        raise BadInput("The trace's limits hold an id below 0.")


_SILENT = {"special": False, "bytes": None, "limits": None, "resumed": None, "drafted_by": None, "limit": None, "stopped": None, "doubt": None, "sharing": None}


def without_silent_fields(value: Any) -> Any:
    """Plain data without the fields that say nothing."""
    if isinstance(value, dict):
        return {k: without_silent_fields(v) for k, v in value.items() if not (k in _SILENT and v == _SILENT[k])}
    if isinstance(value, list):
        return [without_silent_fields(item) for item in value]
    return value
