"""The law that a token was drawn from, and the token's place in it."""

from __future__ import annotations

from specdec.trace.record import Position

# The law of a replacement by rule; all others draw from the residual. A single position doesn't tell it where
# p_big is weighed by the drafts before it, or where the rule was told another p_small.
LAWS = {
    "match": "without_draft",
    "no_residual": "target",
    "typical": "target",
    "block": "unknown",
    "peeking": "target",
    "raw_draft": "unknown",
    "argmax_draft": "unknown",
}


def replacement_law(rule: str) -> str:
    """'residual', 'without_draft', 'target' or 'unknown': what a rule draws a replacement from."""
    return LAWS.get(rule, "residual")


def drawn_from(position: Position, rule: str) -> tuple[float | None, int | None]:
    """Probability and rank (1 = most likely) of a position's token in the law that it was drawn from.

    An accepted or discarded draft was drawn from p_small, a replacement from its rule's `replacement_law`,
    any other token from p_big. The rank is None where ids outside the candidates could stand before it,
    both are None where the law isn't known.
    """
    p = {c.id: c.p for c in position.candidates}
    q = {c.id: c.q or 0.0 for c in position.candidates}
    if position.kind in ("accepted", "discarded"):
        law, limit = q, _limit(q, position.other.q or 0.0, position)
    elif position.kind == "replaced":
        if replacement_law(rule) == "unknown":
            return None, None
        law, limit = _masses_of_replacement(position, p, q, rule), _limit(p, position.other.p, position)
    else:
        law, limit = p, _limit(p, position.other.p, position)
    total = sum(law.values()) + (_other_of(position, rule) if position.kind == "replaced" else 0.0)
    value = law.get(position.token_id)
    if value is None or value <= 0 or total <= 0:
        return None, None
    rank = 1 + sum(mass > value for mass in law.values()) if value >= limit else None
    return (value / total if position.kind == "replaced" else value), rank


def _masses_of_replacement(position: Position, p: dict[int, float], q: dict[int, float], rule: str) -> dict[int, float]:
    if replacement_law(rule) == "target":
        return p
    if replacement_law(rule) == "without_draft":
        return {id_: 0.0 if id_ == position.draft_id else mass for id_, mass in p.items()}
    return {id_: max(0.0, mass - q[id_]) for id_, mass in p.items()}


def _other_of(position: Position, rule: str) -> float:
    return (position.other.residual or 0.0) if replacement_law(rule) == "residual" else position.other.p


def _limit(law: dict[int, float], other: float, position: Position) -> float:
    """No id outside the candidates has more than this.

    The candidates are the k commonest of each law and two more at most, so k is known from below, and
    the k-th largest mass bounds the rest; so does the rest's sum.
    """
    laws = 1 if position.overlap is None else 2
    k = max(1, -(-(len(law) - 2) // laws))
    return min(other, sorted(law.values(), reverse=True)[k - 1])
