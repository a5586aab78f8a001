"""What rounds and positions promise beyond their types: counts that fit, sums that hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specdec.settings import BadInput
from specdec.trace.record import Position, Round

TOLERANCE = 1e-5
# A round's kinds by their first letters: accepted drafts, one more token unless the text ended, discarded drafts.
_ORDER = re.compile("a*[rbp]?d*")


def check_round(index: int, round_: Round, start: int) -> None:
    """Raise `BadInput` unless the counts are those of the positions, which stand in the order a round fills them.

    start: the output index at which the round begins.
    """
    kinds = [position.kind for position in round_.positions]
    accepted, discarded = kinds.count("accepted"), kinds.count("discarded")
    counts = {
        "drafted": sum(position.draft_id is not None for position in round_.positions),
        "tested": accepted + kinds.count("replaced"),
        "accepted": accepted,
        "emitted": len(kinds) - discarded,
    }
    for name, count in counts.items():
        if getattr(round_, name) != count:
            raise BadInput(f"Round {index} of the trace has another number of {name} tokens than its positions show.")
    if not _ORDER.fullmatch("".join(kind[0] for kind in kinds)):
        raise BadInput(f"Round {index} of the trace has its {', '.join(kinds[:20])} positions in an impossible order.")
    if [position.output_index for position in round_.positions] != list(range(start, start + len(kinds))):
        raise BadInput(f"Round {index} of the trace does not continue the output where the round before it ended.")


def check_position(index: int, position: Position) -> None:
    """Raise `BadInput` unless the position has what its kind has, and its sums hold to 1e-5."""
    _check_draft(index, position)
    for name, value in _probabilities(position):
        if not -TOLERANCE <= value <= 1 + TOLERANCE:
            raise BadInput(f"Position {index} of the trace has {name} {value:.3g}, which is no probability.")
    for name, difference in position_differences(position).items():
        if abs(difference) > TOLERANCE:
            raise BadInput(f"Position {index} of the trace breaks '{name}' by {difference:.2g}.")


def _check_draft(index: int, position: Position) -> None:
    kind, draft_id, other = position.kind, position.draft_id, position.other
    of_draft = [position.p, position.q, position.accept_probability, position.overlap, position.residual_mass]
    of_draft += [position.draft_entropy, other.q, other.overlap, other.residual, *(c.q for c in position.candidates)]
    drafted = kind in ("accepted", "replaced", "discarded")
    if any((value is not None) != drafted for value in (draft_id, *of_draft)):
        raise BadInput(f"Position {index} of the trace is {kind}, which does not go with what it says of a draft.")
    if kind in ("accepted", "discarded") and position.token_id != draft_id:
        raise BadInput(f"Position {index} of the trace is {kind}, but its token is not its draft.")
    ids = [candidate.id for candidate in position.candidates]
    if len(set(ids)) < len(ids) or not {position.token_id, draft_id} - {None} <= set(ids):
        raise BadInput(f"Position {index} of the trace has candidates that repeat or that lack its own token or draft.")
    if min(position.target_entropy, position.draft_entropy or 0.0) < 0:
        raise BadInput(f"Position {index} of the trace has an entropy below 0.")


def _probabilities(position: Position) -> Iterator[tuple[str, float]]:
    for name in ("p", "q", "accept_probability", "coin", "overlap", "residual_mass"):
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
