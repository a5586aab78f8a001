"""What a run is made of: tokens, candidates, positions, rounds and the metrics over them.

Plain data with no torch. Probabilities carry six significant digits; the p, q and accept probability of a
drafted token are kept in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pydantic.dataclasses import dataclass

from specdec.trace.strict_json import STRICT

# How many of the commonest ids of each law a position keeps one by one.
CANDIDATES_OF_EACH, CANDIDATES_OF_EACH_DISCARDED = 8, 1

Kind = Literal["accepted", "replaced", "bonus", "plain", "discarded"]
# Why a round drafted no more: the policy's limit, its doubt about the last draft (2), nothing to copy, a drafted end
# of text, the run's budget, the draft's context, or a draft that the target would refuse (a rule that changes the law).
DraftingStop = Literal["limit", "confidence", "entropy", "no_match", "eos", "budget", "room", "peek"]
DraftedBy = Literal["model", "copy"]
StopReason = Literal["eos", "stop_string", "length", "context_full", "cancelled"]


@dataclass(frozen=True, config=STRICT)
class TokenText:
    """A token as a person should see it.

    text: the characters that this token completes ('' when it is an inner part of a character).
    special: a control token such as the end of a turn.
    bytes: its bytes in hex when it is only a part of a character, e.g. 'F0 9F'; else None.
    """

    id: int
    text: str
    special: bool = False
    bytes: str | None = None


@dataclass(frozen=True, config=STRICT)
class Candidate:
    """One id of a position's distribution. p: p_big; q: p_small, None where nothing was drafted."""

    id: int
    text: str
    p: float
    q: float | None
    special: bool = False
    bytes: str | None = None


@dataclass(frozen=True, config=STRICT)
class Other:
    """Sums over all ids that are not candidates; overlap and residual are summed id by id."""

    p: float
    q: float | None
    overlap: float | None
    residual: float | None


@dataclass(frozen=True, config=STRICT)
class Position:
    """One place in a round: a drafted token and its fate, or a token the target added.

    output_index: index in `output.ids`; a discarded draft has the index it would have had.
    token_id, text: what was emitted here (for a discarded draft: the draft itself).
    p, q, accept_probability, coin: of the drafted token; None where none was drafted, coin also None
        where none was thrown. Accepted iff coin < accept_probability.
    overlap: beta = sum of min(p, q) in [0, 1]; residual_mass = sum of max(0, p - q) = 1 - beta.
    token_uniform: the uniform that drew a replaced, bonus or plain token by inverse CDF; else None.
    entropies in nats.
    candidates: the commonest ids of p and of q, draft_id and token_id always among them.
    drafted_by: the draft model, or a copy of earlier text, which no uniform drew; None where nothing was drafted.
    """

    output_index: int
    kind: Kind
    draft_id: int | None
    draft_uniform: float | None
    token_id: int
    text: str
    token_uniform: float | None
    p: float | None
    q: float | None
    accept_probability: float | None
    coin: float | None
    overlap: float | None
    residual_mass: float | None
    target_entropy: float
    draft_entropy: float | None
    candidates: tuple[Candidate, ...]
    other: Other
    special: bool = False
    bytes: str | None = None
    drafted_by: DraftedBy | None = None


@dataclass(frozen=True, config=STRICT)
class Round:
    """Draft, one target pass, verdict. Seconds: drafting, the target pass with its verdict, all of it.

    limit: the most drafts that the policy allowed; stopped: why there were no more. None in traces of schema 1.
    doubt: where the policy doubted, the last draft's own probability or its law's entropy in nats; else None.
    tested: drafts that met the rule; those after a rejection are discarded, not tested.
    started: seconds since decoding began.
    sharing: how many runs' rows the target's pass had, this one's among them; 1: it was alone. None where the pair was
    this run's alone, or nothing tells.
    """

    drafted: int
    tested: int
    accepted: int
    emitted: int
    started: float
    draft_seconds: float
    verify_seconds: float
    seconds: float
    positions: tuple[Position, ...]
    limit: int | None = None
    stopped: DraftingStop | None = None
    doubt: float | None = None
    sharing: int | None = None


@dataclass(frozen=True, config=STRICT)
class PairInfo:
    """Which models ran. draft is None when no draft model took part (prompt lookup, plain decoding)."""

    name: str
    target: str
    draft: str | None
    vocab_size: int


@dataclass(frozen=True, config=STRICT)
class Limits:
    """What ends a run besides its settings.

    eos_ids: every id that ends the text. target_length, draft_length: tokens that the model can hold; draft_length
    is None when no draft model took part.
    """

    eos_ids: tuple[int, ...]
    target_length: int
    draft_length: int | None


@dataclass(frozen=True, config=STRICT)
class Resumed:
    """Where a run goes on from the middle of another.

    written: so many of the prompt's last tokens are output of the run before. drafts, coins, resampling: numbers of
    each of the seed's streams that were taken before, so that this run's go on where they stood.
    """

    written: int
    drafts: int
    coins: int
    resampling: int


@dataclass(frozen=True, config=STRICT)
class Prompt:
    """What the models were fed. text: what the person typed; ids and tokens: after the chat template."""

    text: str
    ids: tuple[int, ...]
    tokens: tuple[TokenText, ...]


@dataclass(frozen=True, config=STRICT)
class Output:
    """What came out. text equals the texts of the emitted positions, joined."""

    ids: tuple[int, ...]
    text: str
    stop_reason: StopReason


@dataclass(frozen=True, config=STRICT)
class Metrics:
    """Counts and times of a run; a ratio is None when nothing was there to divide by.

    drafted, tested, accepted, emitted, rounds: sums over the rounds.
    acceptance_rate: alpha = accepted / tested.
    accepted_per_drafted: accepted / drafted (discarded drafts count against it).
    accepted_per_round: accepted / rounds. tokens_per_round: emitted / rounds.
    tested_by_place, accepted_by_place: the same counts for the 1st, 2nd, ... draft of a round.
    mean_overlap: mean of beta over the tested positions.
    prefill_seconds: feeding the prompt to both models. decode_seconds: all rounds, recording left out.
    draft_seconds, verify_seconds: their parts. tokens_per_second: emitted / decode_seconds;
    tokens_per_second_with_prefill: emitted / (prefill_seconds + decode_seconds).
    """

    rounds: int
    drafted: int
    tested: int
    accepted: int
    emitted: int
    acceptance_rate: float | None
    accepted_per_drafted: float | None
    accepted_per_round: float | None
    tokens_per_round: float | None
    tested_by_place: tuple[int, ...]
    accepted_by_place: tuple[int, ...]
    mean_overlap: float | None
    prefill_seconds: float
    decode_seconds: float
    draft_seconds: float
    verify_seconds: float
    tokens_per_second: float | None
    tokens_per_second_with_prefill: float | None


def ratio(count: float, of: float) -> float | None:
    """count / of, or None when there is nothing to divide by."""
    return count / of if of else None


def metrics_of(rounds: Iterable[Round], prefill_seconds: float) -> Metrics:
    """The metrics of finished rounds; each is defined in `Metrics`."""
    running = RunningMetrics(prefill_seconds)
    for round_ in rounds:
        running.add(round_)
    return running.metrics()


class RunningMetrics:
    """The metrics of a run that grows: a round costs the same however many came before it."""

    def __init__(self, prefill_seconds: float) -> None:
        self._prefill_seconds = prefill_seconds
        self._counts = Counter[str]()
        self._tested_by_place: list[int] = []
        self._accepted_by_place: list[int] = []
        self._overlap = 0.0
        self._overlaps = 0
        self._decode_seconds = self._draft_seconds = self._verify_seconds = 0.0

    def add(self, round_: Round) -> None:
        """Count one more finished round."""
        self._counts["rounds"] += 1
        for name in ("drafted", "tested", "accepted", "emitted"):
            self._counts[name] += getattr(round_, name)
        new_places = max(0, round_.tested - len(self._tested_by_place))
        for by_place in (self._tested_by_place, self._accepted_by_place):
            by_place += [0] * new_places
        for place in range(round_.tested):
            self._tested_by_place[place] += 1
            self._accepted_by_place[place] += round_.accepted > place
        overlaps = [p.overlap for p in round_.positions[: round_.tested] if p.overlap is not None]
        self._overlaps += len(overlaps)
        # One by one, in order: `sum` rounds otherwise in later Pythons, and a trace must read the same in all.
        for overlap in overlaps:
            self._overlap += overlap
        self._decode_seconds += round_.seconds
        self._draft_seconds += round_.draft_seconds
        self._verify_seconds += round_.verify_seconds

    def metrics(self) -> Metrics:
        """Of the rounds so far."""
        rounds, drafted, tested, accepted, emitted = (
            self._counts[name] for name in ("rounds", "drafted", "tested", "accepted", "emitted")
        )
        return Metrics(
            rounds=rounds,
            drafted=drafted,
            tested=tested,
            accepted=accepted,
            emitted=emitted,
            acceptance_rate=ratio(accepted, tested),
            accepted_per_drafted=ratio(accepted, drafted),
            accepted_per_round=ratio(accepted, rounds),
            tokens_per_round=ratio(emitted, rounds),
            tested_by_place=tuple(self._tested_by_place),
            accepted_by_place=tuple(self._accepted_by_place),
            mean_overlap=ratio(self._overlap, self._overlaps),
            prefill_seconds=self._prefill_seconds,
            decode_seconds=self._decode_seconds,
            draft_seconds=self._draft_seconds,
            verify_seconds=self._verify_seconds,
            tokens_per_second=ratio(emitted, self._decode_seconds),
            tokens_per_second_with_prefill=ratio(emitted, self._prefill_seconds + self._decode_seconds),
        )
