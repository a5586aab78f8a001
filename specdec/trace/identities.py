"""What a position promises by itself: it has what its kind has, its ranges and its sums hold."""

from __future__ import annotations

import math
from collections.abc import Iterator

from specdec.settings import BadInput
from specdec.trace.record import Position

TOLERANCE = 1e-5
# Entropies are sums over every id; of those that aren't candidates only their number and their mass are known.
_ENTROPY_TOLERANCE = 1e-3


def check_position(index: int, position: Position, vocab_size: int) -> None:
    """Raise `BadInput` unless the position has what its kind has, and its sums hold to 1e-5.

    vocab_size: ids lie in [0, vocab_size).
    """
    _check_draft(index, position)
    check_ids(f"Position {index} of the trace", [c.id for c in position.candidates], vocab_size)
    for name in ("draft_uniform", "token_uniform", "coin"):
        value = getattr(position, name)
        if value is not None and not 0 < value < 1:
            raise BadInput(f"Position {index} of the trace has {name} {value:.3g}, which is not between 0 and 1.")
    for name, value in _probabilities(position):
        if not 0 <= value <= 1 + TOLERANCE:
            raise BadInput(f"Position {index} of the trace has {name} {value:.3g}, which is no probability.")
    for name, difference in position_differences(position).items():
        if abs(difference) > TOLERANCE:
            raise BadInput(f"Position {index} of the trace breaks '{name}' by {difference:.2g}.")
    _check_entropies(index, position, vocab_size)


def check_ids(whose: str, ids: list[int] | tuple[int, ...], vocab_size: int) -> None:
    """Raise `BadInput` for an id outside the vocabulary."""
    if ids and not 0 <= min(ids) <= max(ids) < vocab_size:
        raise BadInput(f"{whose} holds an id outside the vocabulary, which ends at {vocab_size - 1:,}.")


def _check_draft(index: int, position: Position) -> None:
    kind, draft_id, other = position.kind, position.draft_id, position.other
    of_draft = [position.p, position.q, position.accept_probability, position.overlap, position.residual_mass]
    of_draft += [position.draft_entropy, other.q, other.overlap, other.residual, *(c.q for c in position.candidates)]
    drafted = kind in ("accepted", "replaced", "discarded")
    if any((value is not None) != drafted for value in (draft_id, *of_draft)):
        raise BadInput(f"Position {index} of the trace is {kind}, which does not go with what it says of a draft.")
    if not drafted and (position.draft_uniform, position.coin) != (None, None):
        raise BadInput(f"Position {index} of the trace is {kind}, which goes with no coin and no draw of a draft.")
    if (position.token_uniform is None) != (kind in ("accepted", "discarded")):
        raise BadInput(f"Position {index} of the trace is {kind}, which does not go with its token_uniform.")
    if kind in ("accepted", "discarded") and position.token_id != draft_id:
        raise BadInput(f"Position {index} of the trace is {kind}, but its token is not its draft.")
    ids = [candidate.id for candidate in position.candidates]
    if len(set(ids)) < len(ids) or not {position.token_id, draft_id} - {None} <= set(ids):
        raise BadInput(f"Position {index} of the trace has candidates that repeat or that lack its own token or draft.")


def _probabilities(position: Position) -> Iterator[tuple[str, float]]:
    for name in ("p", "q", "accept_probability", "overlap", "residual_mass"):
        value = getattr(position, name)
        if value is not None:
            yield name, value
    for candidate in position.candidates:
        yield "a candidate's p", candidate.p
        yield "a candidate's q", candidate.q or 0.0
    for name in ("p", "q", "overlap", "residual"):
        yield f"the others' {name}", getattr(position.other, name) or 0.0


def position_differences(position: Position) -> dict[str, float]:
    """What each identity of a position is off by; all zero up to rounding."""
    candidates, other = position.candidates, position.other
    differences = {"p sums to 1": sum(c.p for c in candidates) + other.p - 1}
    if position.overlap is None or position.residual_mass is None:
        return differences
    p, q = [c.p for c in candidates], [c.q or 0.0 for c in candidates]
    draft = next((c for c in candidates if c.id == position.draft_id), None)
    overlap = sum(map(min, p, q)) + (other.overlap or 0.0)
    residual = sum(max(0.0, a - b) for a, b in zip(p, q)) + (other.residual or 0.0)
    if draft is not None:
        differences["p of the draft"] = draft.p - (position.p or 0.0)
        differences["q of the draft"] = (draft.q or 0.0) - (position.q or 0.0)
    return differences | {
        "q sums to 1": sum(q) + (other.q or 0.0) - 1,
        "overlap is the sum of min(p, q)": overlap - position.overlap,
        "residual_mass is the sum of max(0, p - q)": residual - position.residual_mass,
        "overlap + residual_mass = 1": position.overlap + position.residual_mass - 1,
        "overlap + residual = p among the others": (other.overlap or 0) + (other.residual or 0) - other.p,
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
            raise BadInput(f"Position {index} of the trace has {name} {entropy:.4g}, which is not that of its law.")
