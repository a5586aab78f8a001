"""How often each rule would keep the drafts of a recorded run.

A trace keeps the likeliest ids one by one and sums over the rest, so some expectations are bounds. They
come from the recorder's promise: an id that isn't a candidate is no likelier than the k-th candidate.
Plain numbers; no torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from specdec.settings import MISREPORTING_RULES, RULES, Settings
from specdec.trace.record import CANDIDATES_OF_EACH, CANDIDATES_OF_EACH_DISCARDED, Position, Round
from specdec.trace.trace import Trace

POSITION_RULES = tuple(rule for rule in RULES if rule not in MISREPORTING_RULES)


@dataclass(frozen=True)
class Bounds:
    """low <= the expectation <= high; equal when the trace tells it exactly."""

    low: float
    high: float


def at_position(position: Position, settings: Settings) -> dict[str, Bounds]:
    """The chance that a draft is kept at a drafted position, by rule; {} where nothing was drafted.

    Rules whose drafter misreports are left out: a trace keeps one law of the draft, not both.
    """
    if position.overlap is None:
        return {}
    p = [c.p for c in position.candidates]
    q = [c.q or 0.0 for c in position.candidates]
    rest_p, rest_q = position.other.p, position.other.q or 0.0
    rest_overlap = position.other.overlap or 0.0
    most_p, most_q = _most_of_rest(position, p, rest_p), _most_of_rest(position, q, rest_q)
    beta = Bounds(position.overlap, position.overlap)

    both = sum(a * b for a, b in zip(p, q))
    both_rest = min(most_p * rest_q, most_q * rest_p, rest_overlap * max(most_p, most_q))
    threshold = typical_threshold(position.target_entropy, settings)
    typical = sum(b for a, b in zip(p, q) if a > threshold)
    lenience = settings.lenience
    lenient = sum(min(b, a / lenience) for a, b in zip(p, q))
    weight = settings.target_weight
    mixed = 1 - weight + weight * position.overlap
    return {
        "token": beta,
        "match": Bounds(both, both + both_rest),
        "block": beta,
        "no_residual": beta,
        "peeking": beta,
        "typical": Bounds(typical, typical + (rest_q if most_p > threshold else 0.0)),
        "lenient": Bounds(lenient + rest_overlap, lenient + min(rest_q, rest_p / lenience, rest_overlap / lenience)),
        "ensemble": Bounds(mixed, mixed),
    }


def over_run(trace: Trace) -> dict[str, Bounds]:
    """The mean of `at_position` over the tested drafts; {} when none was tested."""
    tested = [at_position(p, trace.settings) for r in trace.rounds for p in r.positions[: r.tested]]
    return {rule: _mean([bounds[rule] for bounds in tested]) for rule in POSITION_RULES} if tested else {}


def kept_a_round(trace: Trace) -> dict[str, Bounds]:
    """Mean drafts kept in a round, given the drafts that were made, the coins averaged out."""
    kept = [_kept(round_, trace.settings) for round_ in trace.rounds if round_.drafted]
    return {rule: _mean([bounds[rule] for bounds in kept]) for rule in POSITION_RULES} if kept else {}


def typical_threshold(target_entropy: float, settings: Settings) -> float:
    """min(epsilon, delta exp(-H)): what a draft's p has to exceed under `typical`."""
    return min(settings.typical_epsilon, settings.typical_delta * math.exp(-target_entropy))


def _kept(round_: Round, settings: Settings) -> dict[str, Bounds]:
    places = [position for position in round_.positions if position.draft_id is not None]
    p = [position.p or 0.0 for position in places]
    q = [position.q or 1.0 for position in places]
    chances = {
        "token": [min(1.0, a / b) for a, b in zip(p, q)],
        "match": p,
        "typical": [float(a > typical_threshold(x.target_entropy, settings)) for a, x in zip(p, places)],
        "lenient": [min(1.0, a / (settings.lenience * b)) for a, b in zip(p, q)],
        "ensemble": [min(1.0, settings.target_weight * a / b + 1 - settings.target_weight) for a, b in zip(p, q)],
    }
    chances["no_residual"] = chances["peeking"] = chances["token"]
    one_by_one = {rule: sum(prod(row[: k + 1]) for k in range(len(row))) for rule, row in chances.items()}
    return {rule: Bounds(value, value) for rule, value in one_by_one.items()} | {"block": _block_kept(places, p, q)}


def _block_kept(places: Sequence[Position], p: Sequence[float], q: Sequence[float]) -> Bounds:
    """Block verification keeps up to the last passing place, so k or more when any place from k on passes."""
    low, high, joint = [], [], 1.0
    for index, (a, b) in enumerate(zip(p, q)):
        joint = min(1.0, joint * a / b)
        if index + 1 == len(p):
            masses = None
        else:
            masses = _scaled_residual(places[index + 1], joint)
        for chances, pick in ((low, 0), (high, 1)):
            mass = masses[pick] if masses else joint
            below = mass + 1 - joint
            chances.append(joint if masses is None else mass / below if below > 0 else 1.0)
    return Bounds(*(sum(1 - prod(1 - h for h in row[k:]) for k in range(len(row))) for row in (low, high)))


def _scaled_residual(position: Position, joint: float) -> tuple[float, float]:
    """Bounds of the sum of max(0, joint p - q)."""
    known = sum(max(0.0, joint * c.p - (c.q or 0.0)) for c in position.candidates)
    rest = position.other
    return known + max(0.0, joint * rest.p - (rest.q or 0.0)), known + joint * (rest.residual or 0.0)


def _most_of_rest(position: Position, masses: Sequence[float], rest: float) -> float:
    """The most that one id outside the candidates can have."""
    count = CANDIDATES_OF_EACH_DISCARDED if position.kind == "discarded" else CANDIDATES_OF_EACH
    ranked = sorted(masses, reverse=True)
    return min(rest, ranked[count - 1] if len(ranked) >= count else rest)


def _mean(bounds: Sequence[Bounds]) -> Bounds:
    return Bounds(*(sum(getattr(b, side) for b in bounds) / len(bounds) for side in ("low", "high")))
