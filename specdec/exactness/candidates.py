"""More than one draft for the same place: the schemes that keep at most one of them, and the most any could keep.

A scheme makes a procedure that draws and tosses coins, as a decoder would; `outcomes.law_of` counts its law.
Laws are float64 arrays [V] that sum to 1. Meant for few tokens: the outcomes grow like V^k, the sets like 2^V.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations, product
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from specdec.exactness.outcomes import Choose, Law, Outcome, Procedure

Drafts: TypeAlias = Mapping[tuple[int, ...], float]  # the chance of each tuple of drafts, in the order drawn
Scheme: TypeAlias = Callable[[Law, Law, int], Procedure]  # of target, draft, k
_ROUNDING = 1e-12
_SOLVED = {"primal_feasibility_tolerance": 1e-10}


def with_replacement(target: Law, draft: Law, k: int) -> Procedure:
    """Recursive rejection: each draft is tested against what is still owed after the drafts before it."""
    return _recursive_rejection(target, draft, k, lambda offered, token: offered)


def without_replacement(target: Law, draft: Law, k: int) -> Procedure:
    """Recursive rejection of drafts that all differ: a rejected token is not drawn again."""
    return _recursive_rejection(target, draft, k, _without)


def _recursive_rejection(target: Law, draft: Law, k: int, following: Callable[[Law, int], Law]) -> Procedure:
    """following: the law of the next draft, from the last one's and the token that was rejected."""

    def procedure(choose: Choose) -> Outcome:
        owed, offered = target, draft
        for _ in range(k):
            if not offered.any():
                break
            token = choose(offered)
            if _passes(choose, owed[token] / offered[token]):
                return _kept(token, target)
            owed = _normed(np.maximum(0, owed - offered), owed)
            offered = following(offered, token)
        return Outcome(False, owed)

    return procedure


def fixed_children(target: Law, draft: Law, k: int) -> Procedure:
    """The k likeliest tokens of the draft law, each tested as if it had been certain."""

    def procedure(choose: Choose) -> Outcome:
        owed = target
        for token in children_of(draft, k):
            if _passes(choose, owed[token]):
                return _kept(token, target)
            owed = _normed(_without(owed, token), owed)
        return Outcome(False, owed)

    return procedure


def k_seq(target: Law, draft: Law, k: int) -> Procedure:
    """Independent drafts, each tested against the same p / (rho q); rho makes what is kept at most what is owed."""
    scale = k_seq_scale(target, draft, k)
    refill = _normed(np.maximum(0, target - scale * draft), target)

    def procedure(choose: Choose) -> Outcome:
        for _ in range(k):
            token = choose(draft)
            if _passes(choose, target[token] / (scale * draft[token])):
                return _kept(token, target)
        return Outcome(False, refill)

    return procedure


def transport_independent(target: Law, draft: Law, k: int) -> Procedure:
    """The best rule for k independent drafts."""
    return _transport(target, independent_drafts(draft, k))


def transport_different(target: Law, draft: Law, k: int) -> Procedure:
    """The best rule for k drafts drawn without replacement."""
    return _transport(target, different_drafts(draft, k))


def _transport(target: Law, drafts: Drafts) -> Procedure:
    """Which draft to keep, by a largest flow from sets of drafts to the tokens that the target asks for."""
    sets = _sets_of(drafts)
    chances = list(sets.values())
    flow = _largest_flow(target, sets)
    refill = _normed(np.maximum(0, target - flow.sum(0)), target)

    def procedure(choose: Choose) -> Outcome:
        offered = choose(chances)
        shares = flow[offered] / chances[offered]
        token = choose([*shares, max(0, 1 - shares.sum())])
        return _kept(token, target) if token < len(target) else Outcome(False, refill)

    return procedure


SCHEMES: dict[str, Scheme] = {
    "fixed_children": fixed_children,
    "with_replacement": with_replacement,
    "k_seq": k_seq,
    "without_replacement": without_replacement,
    "transport_independent": transport_independent,
    "transport_different": transport_different,
}


def children_of(draft: Law, k: int) -> list[int]:
    """The k likeliest tokens, the lower id first among equal ones; fewer where the law has fewer."""
    return [int(token) for token in np.argsort(-draft, kind="stable")[:k] if draft[token] > 0]


def k_seq_scale(target: Law, draft: Law, k: int) -> float:
    """rho in [1, k] with 1 - (1 - beta)^k = rho beta, for beta = sum of min(q, p / rho)."""

    def surplus(rho: float) -> float:
        beta = np.minimum(draft, target / rho).sum()
        return 1 - (1 - beta) ** k - rho * beta

    if surplus(1) <= 0:
        return 1.0
    return float(k) if surplus(k) >= 0 else float(optimize.brentq(surplus, 1, k, xtol=1e-14))


def kept_by_children(target: Law, draft: Law, k: int) -> float:
    """Closed form of `fixed_children`: sum of p over the children."""
    return float(target[children_of(draft, k)].sum())


def kept_with_replacement(target: Law, draft: Law, k: int) -> float:
    """Closed form of `with_replacement`: 1 - product of (1 - overlap of what is owed with q)."""
    owed, rejected = target, 1.0
    for _ in range(k):
        rejected *= 1 - np.minimum(owed, draft).sum()
        owed = _normed(np.maximum(0, owed - draft), owed)
    return float(1 - rejected)


def kept_by_k_seq(target: Law, draft: Law, k: int) -> float:
    """Closed form of `k_seq`: rho beta."""
    return float(np.minimum(k_seq_scale(target, draft, k) * draft, target).sum())


def independent_drafts(draft: Law, k: int) -> Drafts:
    """The law of k independent drafts."""
    return {ids: float(prod(draft[list(ids)])) for ids in product(np.flatnonzero(draft).tolist(), repeat=k)}


def different_drafts(draft: Law, k: int) -> Drafts:
    """The law of k drafts without replacement; of all tokens that the law has, where they are fewer than k."""
    tokens = np.flatnonzero(draft).tolist()
    return {ids: _chance_in_turn(draft, ids) for ids in permutations(tokens, min(k, len(tokens)))}


def _chance_in_turn(draft: Law, ids: tuple[int, ...]) -> float:
    chance, left = 1.0, draft
    for token in ids:
        chance *= left[token] / left.sum()
        left = np.where(np.arange(len(left)) == token, 0.0, left)
    return float(chance)


@dataclass(frozen=True)
class Bound:
    """The most that any exact rule can keep of drafts with a given law, and why.

    limit: p(S) + 1 - P(all drafts lie in S) for the tokens S that make it least, in (0, 1].
    tight: S, the smallest such set; empty where nothing limits. wanted: p(S). offered: P(all drafts lie in S).
    """

    limit: float
    tight: tuple[int, ...]
    wanted: float
    offered: float


def transport_bound(target: Law, drafts: Drafts) -> Bound:
    """The smallest cut, over all 2^V sets of tokens."""
    sets = _sets_of(drafts)
    subsets = ([token for token in range(len(target)) if number >> token & 1] for number in range(2 ** len(target)))
    cuts = ((tokens, sum((chance for ids, chance in sets.items() if ids <= set(tokens)), 0.0)) for tokens in subsets)
    return _tightest(target, sorted(cuts, key=lambda cut: len(cut[0])))


def independent_bound(target: Law, draft: Law, k: int) -> Bound:
    """`transport_bound` of k independent drafts: only prefixes of the tokens by falling q / p can be tight."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(draft > 0, draft / target, 0)
    order = np.argsort(-ratios, kind="stable").tolist()
    prefixes = (order[:size] for size in range(len(order) + 1))
    return _tightest(target, ((tokens, float(draft[tokens].sum() ** k)) for tokens in prefixes))


def _tightest(target: Law, cuts: Iterable[tuple[list[int], float]]) -> Bound:
    """The least of the cuts, the first among equal ones; a cut is a set and the chance that all drafts lie in it."""
    best = Bound(1.0, (), 0.0, 0.0)  # of the empty set
    for tokens, offered in cuts:
        wanted = float(target[tokens].sum())
        if wanted + 1 - offered < best.limit - _ROUNDING:
            best = Bound(wanted + 1 - offered, tuple(sorted(tokens)), wanted, offered)
    return best


def _largest_flow(target: Law, sets: Mapping[frozenset[int], float]) -> NDArray[np.float64]:
    """How much of each set [sets, V] goes to each token in it: at most the set's chance, at most p of the token."""
    edges = [(number, token) for number, ids in enumerate(sets) for token in sorted(ids)]
    rows, columns = np.array(edges).T
    ones, count = np.ones(len(edges)), np.arange(len(edges))
    limits = sparse.vstack(
        [
            sparse.coo_array((ones, (rows, count)), shape=(len(sets), len(edges))),
            sparse.coo_array((ones, (columns, count)), shape=(len(target), len(edges))),
        ]
    )
    found = optimize.linprog(-ones, A_ub=limits, b_ub=np.concatenate([list(sets.values()), target]), options=_SOLVED)
    flow = np.zeros((len(sets), len(target)))
    flow[rows, columns] = found.x
    return flow


def _sets_of(drafts: Drafts) -> dict[frozenset[int], float]:
    sets: dict[frozenset[int], float] = {}
    for ids, chance in drafts.items():
        sets[frozenset(ids)] = sets.get(frozenset(ids), 0.0) + chance
    return sets


def _passes(choose: Choose, chance: float) -> bool:
    """A coin: whether it falls below the chance, which may be above 1."""
    chance = min(1.0, float(chance))
    return choose((chance, 1 - chance)) == 0


def _kept(token: int, target: Law) -> Outcome:
    return Outcome(True, np.eye(len(target))[token])


def _without(law: Law, token: int) -> Law:
    rest = np.where(np.arange(len(law)) == token, 0.0, law)
    return _normed(rest, rest)


def _normed(masses: Law, otherwise: Law) -> Law:
    """Scaled to sum to 1; `otherwise` where there is nothing to scale, which no outcome with a chance meets."""
    total = masses.sum()
    return masses / total if total > 0 else otherwise
