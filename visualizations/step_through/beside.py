"""Plain decoding beside a run that drafted: the same prompt on the same models, what each took, and what each wrote."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from specdec.settings import EXACT_RULES, Sampling
from specdec.trace.growing import GrowingTrace
from specdec.trace.record import Position, StopReason, ratio
from specdec.trace.trace import Trace

if TYPE_CHECKING:
    from specdec.models.pairs import Pair

# One probability is at least so much of the other where rounding can put either first: in bfloat16 the steps between
# large logits are an eighth.
NEAR = 0.8
# Plain decoding ends then, with what it has: enough to compare by, and an answer that no proxy on the way gives up.
LONGEST_SECONDS = 30.0


@dataclass(frozen=True)
class Took:
    """A run by its own clock. seconds: of decoding; reading the prompt and recording are left out."""

    tokens: int
    seconds: float


@dataclass(frozen=True)
class Parting:
    """The first token in which two texts differ.

    number: from 1. here, plain: the position of the run that drafted, and that of plain decoding.
    odds: p_big of the two tokens there at temperature 1, in this order; at temperature 0 a trace has only 1 and 0.
    """

    number: int
    here: Position
    plain: Position
    odds: tuple[float, float] | None = None

    @property
    def near(self) -> bool:
        """Whether the odds are known to be so close that rounding can put either token first."""
        return self.odds is not None and min(self.odds) >= NEAR * max(self.odds)


@dataclass(frozen=True)
class Beside:
    """What plain decoding says about a run.

    compared: tokens held against each other, as far as both were run; None where the texts need not be the same.
    """

    drafted: Took
    plain: Took
    compared: int | None = None
    parting: Parting | None = None

    @property
    def speedup(self) -> float | None:
        """Seconds a token, plain over drafted: above 1 where drafting was faster. None where a clock stood still."""
        drafted, plain = (took.seconds / took.tokens for took in (self.drafted, self.plain))
        return ratio(plain, drafted)


def is_comparable(start: Trace, stop_reason: StopReason) -> bool:
    """Whether plain decoding of the prompt says something about a run: it drafted, from its prompt on, to its own end.

    start: its trace, with or without its rounds.
    """
    return start.settings.gamma > 0 and start.resumed is None and stop_reason != "cancelled"


def decode_beside(pair: Pair, ran: Trace) -> Beside:
    """Decode the prompt of `ran` plainly on `pair`, the models that `ran` was made with, and compare. Slow."""
    plain = _decode_plainly(pair, ran)
    found = compare(ran, plain)
    if found.parting is None:
        return found
    return replace(found, parting=replace(found.parting, odds=_odds(pair, plain, found.parting)))


def compare(ran: Trace, plain: Trace) -> Beside:
    """Each run has a token at least. The texts are compared where the engine promises the same."""
    took = {"drafted": _took(ran), "plain": _took(plain)}
    if ran.settings.temperature > 0 or ran.settings.rule not in EXACT_RULES:
        return Beside(**took)
    places = list(zip(_emitted(ran), _emitted(plain)))
    partings = (
        Parting(number, here, other)
        for number, (here, other) in enumerate(places, 1)
        if here.token_id != other.token_id
    )
    return Beside(**took, compared=len(places), parting=next(partings, None))


def _decode_plainly(pair: Pair, ran: Trace) -> Trace:
    from specdec.recording import steps  # here, because it costs torch: the page opens without

    began = monotonic()
    with closing(steps(pair, ran.prompt.text, ran.settings.changed(gamma=0))) as parts:
        plain = GrowingTrace(next(parts))
        for step in parts:
            plain.add(step)
            if monotonic() - began > LONGEST_SECONDS:
                break
    return plain.trace()


def _took(trace: Trace) -> Took:
    return Took(trace.metrics.emitted, trace.metrics.decode_seconds)


def _emitted(trace: Trace) -> list[Position]:
    return [position for position in trace.positions if position.kind != "discarded"]


def _odds(pair: Pair, plain: Trace, parting: Parting) -> tuple[float, float]:
    """One more pass of the target, which has just decoded `plain`, over the token before the parting."""
    import torch

    from specdec.decoding.probabilities import probabilities

    before = [*plain.prompt.ids, *plain.output.ids[: parting.number - 1]]
    pair.target.rewind(len(before) - 1)
    logits = pair.target.extend(torch.tensor(before[-1:], device=pair.target.device))
    law = probabilities(logits, Sampling())[0]
    return float(law[parting.here.token_id]), float(law[parting.plain.token_id])
