"""What a position promises by itself: it has what its kind has, its ranges and its sums hold."""

from __future__ import annotations

import math
from collections.abc import Iterator

from specdec.settings import BadInput, Phrase
from specdec.trace.record import Position

TOLERANCE = 1e-5
# Entropies are sums over every id; of those that aren't candidates only their number and their mass are known.
_ENTROPY_TOLERANCE = 1e-3


def check_position(index: int, position: Position, vocab_size: int) -> None:
    """Raise `BadInput` unless the position has what its kind has, and its sums hold to 1e-5.

    vocab_size: ids lie in [0, vocab_size).
    """
    _check_draft(index, position)
    check_ids(Phrase("Position {index} of the trace", index=index), [c.id for c in position.candidates], vocab_size)
    for name in ("draft_uniform", "token_uniform", "coin"):
        value = getattr(position, name)
        if value is not None and not 0 < value < 1:
            raise BadInput(
                "Position {index} of the trace has {name} {value:.3g}, which is not between 0 and 1.",
                index=index, name=name, value=value,
            )
    for name, value in _probabilities(position):
        if not 0 <= value <= 1 + TOLERANCE:
            raise BadInput(
                "Position {index} of the trace has {name} {value:.3g}, which is no probability.",
                index=index, name=name, value=value,
            )
    for name, difference in position_differences(position).items():
        if abs(difference) > TOLERANCE:
            raise BadInput(
                "Position {index} of the trace breaks '{name}' by {difference:.2g}.",
                index=index, name=name, difference=difference,
            )
    _check_entropies(index, position, vocab_size)


def check_ids(whose: str, ids: list[int] | tuple[int, ...], vocab_size: int) -> None:
    """Raise `BadInput` for an id outside the vocabulary."""
    if ids and not 0 <= min(ids) <= max(ids) < vocab_size:
        raise BadInput(
            "{whose} holds an id outside the vocabulary, which ends at {last:,}.", whose=whose, last=vocab_size - 1
        )


def _check_draft(index: int, position: Position) -> None:
    kind, draft_id, other = position.kind, position.draft_id, position.other
    of_draft = [position.p, position.q, position.accept_probability, position.overlap, position.residual_mass]
    of_draft += [position.draft_entropy, other.q, other.overlap, other.residual, *(c.q for c in position.candidates)]
    drafted = kind in ("accepted", "replaced", "discarded")
    if any((value is not None) != drafted for value in (draft_id, *of_draft)):
        raise BadInput(
            "Position {index} of the trace is {kind}, which does not go with what it says of a draft.",
            index=index, kind=kind,
        )
    if not drafted and (position.draft_uniform, position.coin) != (None, None):
        raise BadInput(
            "Position {index} of the trace is {kind}, which goes with no coin and no draw of a draft.",
            index=index, kind=kind,
        )
    if (position.token_uniform is None) != (kind in ("accepted", "discarded")):
        raise BadInput(
            "Position {index} of the trace is {kind}, which does not go with its token_uniform.", index=index, kind=kind
        )
    if kind in ("accepted", "discarded") and position.token_id != draft_id:
        raise BadInput(
            "Position {index} of the trace is {kind}, but its token is not its draft.", index=index, kind=kind
        )
    ids = [candidate.id for candidate in position.candidates]
    if len(set(ids)) < len(ids) or not {position.token_id, draft_id} - {None} <= set(ids):
        raise BadInput(
            "Position {index} of the trace has candidates that repeat or that lack its own token or draft.", index=index
        )


def _probabilities(position: Position) -> Iterator[tuple[str, float]]:
    for name in ("p", "q", "accept_probability", "overlap", "residual_mass"):
        value = getattr(position, name)
        if value is not None:
            yield name, value
    a_p, a_q = Phrase("a candidate's {law}", law="p"), Phrase("a candidate's {law}", law="q")
    for candidate in position.candidates:
        yield a_p, candidate.p
        yield a_q, candidate.q or 0.0
    for name in ("p", "q", "overlap", "residual"):
        yield Phrase("the others' {name}", name=name), getattr(position.other, name) or 0.0


def position_differences(position: Position) -> dict[str, float]:
    """What each identity of a position is off by; all zero up to rounding."""
    candidates, other = position.candidates, position.other
    differences = {Phrase("p sums to 1"): sum(c.p for c in candidates) + other.p - 1}
    if position.overlap is None or position.residual_mass is None:
        return differences
    p, q = [c.p for c in candidates], [c.q or 0.0 for c in candidates]
    draft = next((c for c in candidates if c.id == position.draft_id), None)
    overlap = sum(map(min, p, q)) + (other.overlap or 0.0)
    residual = sum(max(0.0, a - b) for a, b in zip(p, q)) + (other.residual or 0.0)
    if draft is not None:
        differences[Phrase("p of the draft")] = draft.p - (position.p or 0.0)
        differences[Phrase("q of the draft")] = (draft.q or 0.0) - (position.q or 0.0)
    return differences | {
        Phrase("q sums to 1"): sum(q) + (other.q or 0.0) - 1,
        Phrase("overlap is the sum of min(p, q)"): overlap - position.overlap,
        Phrase("residual_mass is the sum of max(0, p - q)"): residual - position.residual_mass,
        "overlap + residual_mass = 1": position.overlap + position.residual_mass - 1,
        Phrase("overlap + residual = p among the others"): (other.overlap or 0) + (other.residual or 0) - other.p,
    }


def _check_entropies(index: int, position: Position, vocab_size: int) -> None:
    others, candidates = vocab_size - len(position.candidates), position.candidates
    laws = {"target_entropy": (position.target_entropy, [c.p for c in candidates], position.other.p)}
    if position.draft_entropy is not None:
        laws["draft_entropy"] = (position.draft_entropy, [c.q or 0.0 for c in candidates], position.other.q or 0.0)
    for name, (entropy, masses, rest) in laws.items():
        listed = -sum(mass * math.log(mass) for mass in masses if mass)
        most = listed + (rest * math.log(others / rest) if rest and others else 0.0)
        if not max(0.0, listed - _ENTROPY_TOLERANCE) <= entropy <= most + _ENTROPY_TOLERANCE:
            raise BadInput(
                "Position {index} of the trace has {name} {entropy:.4g}, which is not that of its law.",
                index=index, name=name, entropy=entropy,
            )
