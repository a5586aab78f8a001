"""The race: one prompt, plain decoding on one lane and speculative on the other, on one clock.

The lanes run one after the other, since both need the target to themselves; each has its own decode
clock, which starts after the prefill and stands still between rounds, while the record is passed on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Literal

from pydantic.dataclasses import dataclass

from specdec import recording
from specdec.decoding import loop
from specdec.models.devices import synchronise
from specdec.models.pairs import Pair
from specdec.settings import Settings
from specdec.timing.hardware import describe
from specdec.timing.records import STRICT, Hardware, to_json
from specdec.trace.record import StopReason, TokenText, ratio
from specdec.trace.tokens import TextStream

WARM_UP_TOKENS = 8

Fate = Literal["accepted", "rejected", "discarded", "added"]


@dataclass(frozen=True, config=STRICT)
class RaceToken:
    """A token and what became of it; added: by the target, after the kept drafts."""

    token: TokenText
    fate: Fate


@dataclass(frozen=True, config=STRICT)
class Block:
    """A round, in seconds of the lane's decode clock.

    Drafting lasts from started to drafted_at, the target's pass and the verdict to verified_at, the
    upkeep of the caches to finished, when the emitted tokens (accepted and added, in order) are there.
    """

    started: float
    drafted_at: float
    verified_at: float
    finished: float
    tokens: tuple[RaceToken, ...]
    emitted: int


@dataclass(frozen=True, config=STRICT)
class Lane:
    """One way's run so far. stop_reason: None while it goes on or when it was stopped."""

    gamma: int
    prefill_seconds: float
    blocks: tuple[Block, ...]
    stop_reason: StopReason | None

    @property
    def seconds(self) -> float:
        """Where the decode clock stands."""
        return self.blocks[-1].finished if self.blocks else 0.0

    @property
    def tokens(self) -> int:
        """Tokens emitted."""
        return sum(block.emitted for block in self.blocks)

    @property
    def decode_rate(self) -> float | None:
        """Tokens per second without prefill."""
        return ratio(self.tokens, self.seconds)


@dataclass(frozen=True, config=STRICT)
class Race:
    """Both lanes; an empty one hasn't begun. One run each: a picture, not a measurement (see `Comparison`)."""

    hardware: Hardware
    pair: str
    dtype: str
    prompt: str
    prompt_tokens: int
    settings: Settings
    plain: Lane
    speculative: Lane

    def to_json(self) -> str:
        return to_json(self)


def race(pair: Pair, prompt: str, settings: Settings, *, plain_first: bool = True) -> Iterator[Race]:
    """The record after every round, after a short untimed run of each lane. Close it to stop.

    At temperature 0 both lanes write the same text, up to near-ties that the number format decides.
    """
    prompt_ids = pair.encode(prompt, chat=settings.chat)
    lanes = {"plain": settings.changed(gamma=0), "speculative": settings}
    for own in lanes.values():
        for _ in recording.run(pair, prompt_ids, replace(own, max_new_tokens=WARM_UP_TOKENS)):
            pass
    so_far = Race(
        hardware=describe(pair.target.device),
        pair=pair.info.name,
        dtype=pair.dtype,
        prompt=prompt,
        prompt_tokens=len(prompt_ids),
        settings=settings,
        plain=Lane(0, 0.0, (), None),
        speculative=Lane(settings.gamma, 0.0, (), None),
    )
    for name in lanes if plain_first else reversed(lanes):
        for lane in run_lane(pair, prompt_ids, lanes[name]):
            so_far = replace(so_far, **{name: lane})
            yield so_far


def run_lane(pair: Pair, prompt_ids: list[int], settings: Settings) -> Iterator[Lane]:
    """One lane, growing by a block a round."""
    texts = TextStream(pair.texts)
    blocks: list[Block] = []
    clock = prefill = 0.0
    synchronise(pair.target.device)
    began = perf_counter()
    for round_ in recording.run(pair, prompt_ids, settings):
        if not blocks:
            prefill = round_.started - began
        blocks.append(_block(round_, clock, pair, texts))
        clock = blocks[-1].finished
        yield Lane(settings.gamma, prefill, tuple(blocks), round_.stop_reason)


def _block(round_: loop.Round, clock: float, pair: Pair, texts: TextStream) -> Block:
    offset = clock - round_.started
    accepted, added = round_.emitted[: round_.accepted], round_.emitted[round_.accepted :]
    left = round_.proposal.ids.tolist()[round_.accepted :]
    rejected = round_.tested - round_.accepted
    return Block(
        started=clock,
        drafted_at=round_.drafted_at + offset,
        verified_at=round_.verified_at + offset,
        finished=round_.finished + offset,
        tokens=(
            *(RaceToken(texts.push(token), "accepted") for token in accepted),
            *(RaceToken(pair.texts.alone(token), "rejected") for token in left[:rejected]),
            *(RaceToken(pair.texts.alone(token), "discarded") for token in left[rejected:]),
            *(RaceToken(texts.push(token), "added") for token in added),
        ),
        emitted=len(round_.emitted),
    )
