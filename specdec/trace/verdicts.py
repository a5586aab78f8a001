"""What a rule promises of its verdicts: accept probabilities that follow from p and q, coins that decide by them,
tokens that stand where their uniforms fall.

A trace lists the commonest ids only, so what needs the whole law is held between bounds.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from specdec.settings import MISREPORTING_RULES, BadInput, Phrase, Settings
from specdec.trace.identities import TOLERANCE
from specdec.trace.record import Position, Round

_SLACK = 2e-6  # p, q and accept probability have float32's seven digits


class Bounds(NamedTuple):
    """Where a number lies."""

    low: float
    high: float


def check_verdicts(index: int, round_: Round, settings: Settings, eos_ids: Collection[int] | None) -> None:
    """Raise `BadInput` unless the round's verdicts are those of the rule that `settings` name.

    eos_ids: ids that end the text, behind which drafts aren't recorded; None when they aren't known.
    """
    where = Phrase("Round {index} of the trace", index=index)
    drafts = [position for position in round_.positions if position.draft_id is not None]
    if any(draft.q == 0 for draft in drafts):
        raise BadInput("{where} has a draft that its q never gives.", where=where)
    cut = round_.stopped in (None, "eos") and len(drafts) < settings.gamma and (eos_ids is None or bool(drafts) and drafts[-1].draft_id in eos_ids)
    joint = _joint_ratios(drafts)
    if settings.rule == "block":
        bounds = _block_bounds(drafts, joint, cut)
    else:
        bounds = [_accept_bounds(draft, settings) for draft in drafts]
    for draft, (low, high) in zip(drafts, bounds):
        if not low - _SLACK * (1 + low) <= draft.accept_probability <= high + _SLACK * (1 + high):
            raise BadInput(
                "{where} has an accept_probability that the rule {rule} does not give.", where=where, rule=settings.rule
            )
    decided = _block_decides(round_, drafts, cut) if settings.rule == "block" else _each_decides(drafts)
    if not decided:
        raise BadInput("{where} has coins that do not decide as its accept probabilities say.", where=where)
    if settings.rule == "peeking" and len(drafts) > round_.accepted:
        raise BadInput("{where} has a draft that was not kept, which the rule peeking never shows.", where=where)
    for position, weight in zip(round_.positions, [*joint[: len(drafts)], 1.0]):
        _check_draws(where, position, settings, weight)


def _accept_bounds(draft: Position, settings: Settings) -> Bounds:
    """The accept probability of one draft under a rule that tests draft by draft."""
    p, q = draft.p, draft.q
    exactly = {
        "token": lambda: _ratio(p, q),
        "no_residual": lambda: _ratio(p, q),
        "peeking": lambda: _ratio(p, q),
        "match": lambda: p,
        "lenient": lambda: _ratio(p, settings.lenience * q),
        "ensemble": lambda: min(1.0, settings.target_weight * p / q + 1 - settings.target_weight),
    }
    if settings.rule in exactly:
        value = exactly[settings.rule]()
        return Bounds(value, value)
    return _typical_bounds(draft, settings) if settings.rule == "typical" else _misreported_bounds(draft, settings)


def _ratio(p: float, q: float) -> float:
    """min(1, p / q)"""
    return p / q if p < q else float(p > 0)


def _typical_bounds(draft: Position, settings: Settings) -> Bounds:
    """1 above the threshold min(epsilon, delta exp(-H)), else 0; either where rounding may decide."""
    threshold = min(settings.typical_epsilon, settings.typical_delta * math.exp(-draft.target_entropy))
    return Bounds(float(draft.p > threshold * (1 + 1e-4)), float(draft.p > threshold * (1 - 1e-4)))


def _misreported_bounds(draft: Position, settings: Settings) -> Bounds:
    """p / q' with q' what the rule was told, where the trace has the q that drew the draft.

    Before top-k and top-p q' is at most q, and at least q times the mass they keep. Of the likeliest token it is
    anything up to 1.
    """
    p, q = draft.p, draft.q
    if settings.reported_sampling == settings.draft_sampling:
        return Bounds(_ratio(p, q), _ratio(p, q))
    if settings.rule == "argmax_draft":
        return Bounds(_ratio(p, 1.0), float(p > 0))
    if settings.draft_sampling.temperature == 0:
        return Bounds(_ratio(p, q), _ratio(p, q))
    kept = 0.0 if settings.top_k else settings.top_p
    return Bounds(_ratio(p, q), _ratio(p, kept * q))


def _joint_ratios(drafts: Sequence[Position]) -> list[float]:
    """w of block verification: w[i] = min(1, w[i-1] p/q) after i drafts; w[0] = 1."""
    joint = [1.0]
    for draft in drafts:
        joint.append(_ratio(joint[-1] * draft.p, draft.q))
    return joint


def _block_bounds(drafts: Sequence[Position], joint: Sequence[float], cut: bool) -> list[Bounds]:
    """m / (m + 1 - w), with m the mass of max(0, w p - q) at the next place; behind the last draft w itself.

    cut: there may have been drafts behind the last one. Then all that is known of m is m <= w.
    """
    bounds = []
    for (_, following), weight in zip(pairwise(drafts), joint[1:]):
        mass = _lacking_bounds(following, weight)
        least = _passes(mass.low - TOLERANCE, weight - TOLERANCE)
        bounds.append(Bounds(least, _passes(mass.high + TOLERANCE, weight + TOLERANCE)))
    return bounds + [Bounds(0.0 if cut else joint[-1], joint[-1])] * bool(drafts)


def _passes(mass: float, weight: float) -> float:
    """m / (m + 1 - w), 1 where nothing is refused."""
    mass, refused = max(0.0, mass), max(0.0, 1 - weight)
    return mass / (mass + refused) if refused else 1.0


def _lacking_bounds(position: Position, weight: float) -> Bounds:
    """The sum over all ids of max(0, w p - q), w in [0, 1]."""
    other = position.other
    listed = sum(max(0.0, weight * c.p - c.q) for c in position.candidates)
    least = max(0.0, weight * other.p - other.q, other.residual - (1 - weight) * other.p)
    return Bounds(listed + least, listed + weight * other.residual)


def _each_decides(drafts: Sequence[Position]) -> bool:
    """Every tested draft has a coin and was accepted iff it lies below; a discarded one has none."""
    return all(
        draft.coin is None
        if draft.kind == "discarded"
        else draft.coin is not None and _passed(draft) == (draft.kind == "accepted")
        for draft in drafts
    )


def _block_decides(round_: Round, drafts: Sequence[Position], cut: bool) -> bool:
    """Every draft has a coin, and the drafts up to the last whose coin passes were accepted.

    Where the text ended within them, that one is the last accepted, one behind it, or not recorded (cut).
    """
    if any(draft.coin is None for draft in drafts):
        return False
    passed = [False, *map(_passed, drafts)]
    if round_.emitted > round_.accepted:
        return (not round_.accepted or passed[round_.accepted]) and not any(passed[round_.accepted + 1 :])
    return cut or any(passed[round_.accepted :])


def _passed(draft: Position) -> bool:
    """coin < accept probability, as float32 holds the latter; the trace has its shortest decimal."""
    [probability] = struct.unpack("f", struct.pack("f", draft.accept_probability))
    return draft.coin < probability


def _check_draws(where: str, position: Position, settings: Settings, weight: float) -> None:
    """The draft stands where its uniform falls in q; the token after the kept drafts where its own does in its law.

    weight: w of block verification before this place.
    """
    if position.draft_uniform is not None:
        q = {c.id: c.q for c in position.candidates}
        if not _falls(q, 1.0, position.draft_id, position.draft_uniform):
            raise BadInput("{where} has a draft that its draft_uniform does not draw from q.", where=where)
    if position.token_uniform is not None:
        law, total = _token_law(position, settings, weight)
        if total > TOLERANCE and not _falls(law, total, position.token_id, position.token_uniform):
            raise BadInput(
                "{where} has a {kind} token that its token_uniform does not draw from its law.",
                where=where, kind=position.kind,
            )


def _token_law(position: Position, settings: Settings, weight: float) -> tuple[dict[int, float], float]:
    """Unnormalised masses of the listed ids, and of all ids at most; total 0 where the trace doesn't tell the law."""
    p = {c.id: c.p for c in position.candidates}
    if position.kind != "replaced" or settings.rule in ("no_residual", "typical"):
        return p, 1.0
    if settings.rule == "match":
        return p | {position.draft_id: 0.0}, 1 - p[position.draft_id]
    if settings.rule in MISREPORTING_RULES and settings.reported_sampling != settings.draft_sampling:
        return {}, 0.0
    weight = weight if settings.rule == "block" else 1.0
    lacking = {c.id: max(0.0, weight * c.p - c.q) for c in position.candidates}
    mass = _lacking_bounds(position, weight)
    return lacking, mass.high if mass.low > TOLERANCE else 0.0


def _falls(law: dict[int, float], total: float, token_id: int, uniform: float) -> bool:
    """Whether `token_id` may be where the cumulative law passes `uniform`: what is listed before and behind it fits."""
    before = sum(mass for id_, mass in law.items() if id_ < token_id)
    behind = sum(mass for id_, mass in law.items() if id_ > token_id)
    return before <= uniform * total + TOLERANCE and behind <= (1 - uniform) * total + TOLERANCE
