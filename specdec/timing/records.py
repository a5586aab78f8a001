"""What is measured, as plain data: strict JSON in and out, every number with its unit and definition.

Seconds are wall clock. Prompt tokens are never counted as generated ones. A ratio is None where
there is nothing to divide by. No torch here: a figure or a page can read a record by itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic.dataclasses import dataclass

from specdec.settings import Phrase
from specdec.trace import strict_json
from specdec.trace.record import ratio
from specdec.trace.strict_json import STRICT, to_dict

MAX_JSON_BYTES = 20_000_000

R = TypeVar("R")


@dataclass(frozen=True, config=STRICT)
class Hardware:
    """Where a number was measured. device: cpu, cuda or mps; name: of the processor or the GPU.

    cores: that the process may use; threads: those that torch computes with.
    """

    device: str
    name: str
    cores: int
    threads: int
    torch: str
    transformers: str
    python: str
    system: str


@dataclass(frozen=True, config=STRICT)
class RunTiming:
    """One run, or the sum of several (`pooled`), counted from token ids.

    tokens: new tokens. prefill_seconds: from the call to the first round, reading the prompt.
    decode_tokens, decode_seconds: the tokens that came out while decoding was timed, and that time.
        specdec's prefill gives no token, so all of them; transformers' first step reads the prompt
        and gives tokens, so there those after the first step.
    rounds: target passes while decoding. drafted, tested, accepted: drafts really proposed, those that
        met the rule, those kept; None where the program doesn't say (transformers).
    copied: drafts among them that were copied from the text, for which no model took a step.
    draft_steps: draft model passes. draft_seconds, target_seconds: spent inside the models' passes
        while decoding; None where they were not timed. drafting_seconds, verifying_seconds: the rounds' two
        phases, each with its probabilities and draws: until the drafts are there, and from then until the
        verdict; None for transformers.
    """

    tokens: int
    prefill_seconds: float
    decode_tokens: int
    decode_seconds: float
    rounds: int
    drafted: int | None
    tested: int | None
    accepted: int | None
    draft_steps: int | None = None
    draft_seconds: float | None = None
    target_seconds: float | None = None
    drafting_seconds: float | None = None
    verifying_seconds: float | None = None
    copied: int = 0

    @property
    def decode_rate(self) -> float | None:
        """Tokens per second without prefill: decode_tokens / decode_seconds."""
        return ratio(self.decode_tokens, self.decode_seconds)

    @property
    def end_to_end_rate(self) -> float | None:
        """Tokens per second with prefill: tokens / (prefill_seconds + decode_seconds)."""
        return ratio(self.tokens, self.prefill_seconds + self.decode_seconds)

    @property
    def tokens_per_round(self) -> float | None:
        """decode_tokens / rounds."""
        return ratio(self.decode_tokens, self.rounds)

    @property
    def drafted_per_round(self) -> float | None:
        """drafted / rounds: what was really proposed, not gamma."""
        return None if self.drafted is None else ratio(self.drafted, self.rounds)

    @property
    def steps_per_round(self) -> float | None:
        """(drafted - copied) / rounds: what the draft model was asked for."""
        return None if self.drafted is None else ratio(self.drafted - self.copied, self.rounds)

    @property
    def acceptance_rate(self) -> float | None:
        """alpha = accepted / tested; None (not 0) when no draft was tested."""
        return None if self.accepted is None or self.tested is None else ratio(self.accepted, self.tested)

    @property
    def loop_seconds(self) -> float | None:
        """decode_seconds less the models' passes: probabilities, draws, verdicts, cache upkeep, Python."""
        if self.draft_seconds is None or self.target_seconds is None:
            return None
        return self.decode_seconds - self.draft_seconds - self.target_seconds

    @property
    def loop_share(self) -> float | None:
        """loop_seconds / decode_seconds."""
        return None if self.loop_seconds is None else ratio(self.loop_seconds, self.decode_seconds)


def pooled(timings: Iterable[RunTiming]) -> RunTiming:
    """The sum of runs, field by field: its rates are ratios of sums, not means of ratios."""
    timings = list(timings)

    def total(name: str) -> Any:
        values = [getattr(timing, name) for timing in timings]
        return None if None in values else sum(values)

    return RunTiming(**{name: total(name) for name in RunTiming.__dataclass_fields__})


@dataclass(frozen=True, config=STRICT)
class Spread:
    """Several measurements of one thing: median, quartiles, how many."""

    median: float
    q1: float
    q3: float
    n: int


@dataclass(frozen=True, config=STRICT)
class PassCost:
    """Seconds of one model pass over `tokens` tokens."""

    tokens: int
    seconds: Spread


@dataclass(frozen=True, config=STRICT)
class Costs:
    """What passes cost on this machine, apart from any run.

    draft_step: one token through the draft model, the mean over `steps` in a row between two target
        passes, as in decoding (the target's weights push the draft's out of the caches); None when no
        draft model takes part. target: a pass over n tokens with `context` tokens in the cache.
    prefill: reading a prompt of so many tokens into the target. done / total: samples taken and planned.
    """

    hardware: Hardware
    pair: str
    dtype: str
    context: int
    steps: int
    draft_step: Spread | None
    target: tuple[PassCost, ...]
    prefill: tuple[PassCost, ...]
    done: int
    total: int

    def target_seconds(self, tokens: float) -> float:
        """t_target(tokens), on straight lines between the measured widths; flat beyond the ends."""
        points = [(cost.tokens, cost.seconds.median) for cost in self.target]
        if tokens <= points[0][0]:
            return points[0][1]
        for (left, low), (right, high) in zip(points, points[1:]):
            if tokens <= right:
                return low + (high - low) * (tokens - left) / (right - left)
        return points[-1][1]

    @property
    def draft_seconds(self) -> float:
        """t_draft; 0 without a draft model."""
        return self.draft_step.median if self.draft_step else 0.0

    @property
    def cost_ratio(self) -> float:
        """c = t_draft / t_target(1)."""
        return self.draft_seconds / self.target_seconds(1)

    def verify_ratio(self, gamma: float) -> float:
        """v = t_target(gamma + 1) / t_target(1)."""
        return self.target_seconds(gamma + 1) / self.target_seconds(1)

    def to_json(self) -> str:
        return to_json(self)


def to_json(record: Any) -> str:
    """Strict JSON of any record of this package."""
    return strict_json.compact_json(to_dict(record))


def write_json(path: Path, record: Any) -> None:
    """Plain dicts and lists to a file, strict and indented."""
    path.write_text(json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n", encoding="utf-8")


def from_json(kind: type[R], text: str | bytes) -> R:
    """Read a record back. Raises `BadInput` with one sentence when it isn't one of that kind."""
    return strict_json.from_json(kind, text, name=Phrase("{kind} record", kind=kind.__name__), limit=MAX_JSON_BYTES)
