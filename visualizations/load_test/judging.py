"""Whether an answer is the one that was asked for: the visitor's own prompt, settings and draws, and a whole run of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from specdec.settings import BadInput
from specdec.trace.record import Position
from specdec.trace.trace import Trace
from visualizations.load_test.client import Visit
from visualizations.load_test.visitors import Visitor

Outcome = Literal["answered", "refused", "lost", "wrong", "closed"]


@dataclass(frozen=True)
class Parting:
    """The first place where a greedy text is another than alone. before: its index in alone's positions of the token
    that both wrote last, None where they part at once; ids: what each wrote, the crowd's first."""

    alone: Trace
    before: int | None
    ids: tuple[int, int]


@dataclass(frozen=True)
class Verdict:
    """What a visit came to, and why it is no right answer. parting: the only thing that may be wrong with it."""

    outcome: Outcome
    why: str = ""
    parting: Parting | None = None


def judge(visit: Visit, alone: Mapping[int, Trace]) -> Verdict:
    """alone: what some of the visitors, by their numbers, were answered when nobody else was there."""
    if visit.closed:
        return Verdict("closed")
    if visit.status is not None and visit.status >= 400:
        return Verdict("refused", f"{visit.status}: {visit.words}")
    if visit.trace is None:
        return Verdict("lost" if visit.fault or visit.text else "refused", visit.fault or visit.words or "no word came")
    if visit.fault:
        return Verdict("wrong", visit.fault)
    try:
        trace = Trace.from_json(visit.trace)
    except BadInput as contradiction:
        return Verdict("wrong", str(contradiction))
    if trace.output.stop_reason == "cancelled":
        return Verdict("lost", "the run was broken off")
    if why := _foreign(visit.visitor, trace) or _unlike_view(visit.text, trace):
        return Verdict("wrong", why)
    return _beside(trace, alone.get(visit.visitor.number)) if visit.visitor.temperature == 0 else Verdict("answered")


def parting_of(now: Trace, alone: Trace) -> Parting | None:
    """Where two greedy texts part; None where they are the same."""
    written = [(index, p) for index, p in enumerate(alone.positions) if p.kind != "discarded"]
    for place, (here, there) in enumerate(zip(now.output.ids, alone.output.ids)):
        if here != there:
            return Parting(alone, written[place - 1][0] if place else None, (here, there))
    return None


def _beside(trace: Trace, alone: Trace | None) -> Verdict:
    if alone is None or trace.output.ids == alone.output.ids:
        return Verdict("answered")
    why = "its greedy text is another than alone"
    return Verdict("wrong", why, parting_of(trace, alone))


def _foreign(visitor: Visitor, trace: Trace) -> str:
    """What shows that the run is not the visitor's; '' for nothing."""
    if trace.prompt.text != visitor.prompt:
        return f"it has the prompt {trace.prompt.text[:40]!r}"
    settings = trace.settings
    if (settings.temperature, settings.seed, settings.max_new_tokens) != (visitor.temperature, visitor.seed, visitor.tokens):
        return "it has other settings than were asked for"
    return "" if _has_own_draws(trace) else "its random numbers are not those of its seed"


def _has_own_draws(trace: Trace) -> bool:
    """Every uniform and coin stands where the seed's streams have it: no other run took a number between."""
    from specdec.decoding.probabilities import RandomStreams  # here, because it costs torch

    streams, gamma = RandomStreams(trace.seed), trace.settings.gamma
    for round_ in trace.rounds:
        drafts, coins, token = streams.drafts.take(gamma), streams.coins.take(gamma), streams.resampling.one()
        for place, position in enumerate(round_.positions):
            own = (drafts[place : place + 1], coins[place : place + 1], [token])
            if any(drawn is not None and [drawn] != stream for drawn, stream in zip(_drawn(position), own)):
                return False
    return True


def _drawn(position: Position) -> tuple[float | None, float | None, float | None]:
    return position.draft_uniform, position.coin, position.token_uniform


def _unlike_view(text: str, trace: Trace) -> str:
    """Why what was seen is not what was kept; '' where it is. Tokens that don't decode leave the sign for it."""
    if text != trace.output.text:
        return "the view showed another text than the run has"
    return "its tokens don't decode" if "\N{REPLACEMENT CHARACTER}" in text else ""
