"""Several drafts for one place: every law by enumeration, formulas beside them, and the most that can be kept."""

from __future__ import annotations

from functools import partial

import pytest

np = pytest.importorskip("numpy")
optimize = pytest.importorskip("scipy.optimize")

from specdec.exactness.candidates import (  # noqa: E402
    SCHEMES,
    different_drafts,
    independent_bound,
    independent_drafts,
    k_seq_scale,
    kept_by_children,
    kept_by_k_seq,
    kept_with_replacement,
    transport_bound,
)
from specdec.exactness.outcomes import Outcome, law_of  # noqa: E402

P = np.array([0.30, 0.25, 0.20, 0.15, 0.10])
Q = np.array([0.10, 0.40, 0.10, 0.25, 0.15])
KEPT = {
    "fixed_children": (0.25, 0.40, 0.50),
    "with_replacement": (0.70, 0.76, 0.808),
    "k_seq": (0.70, 0.79136, 0.85852),
    "without_replacement": (0.70, 0.78843, 0.89039),
    "transport_independent": (0.70, 0.86, 0.971),
    "transport_different": (0.70, 0.92876, 1.0),
}
MEANS = {
    "fixed_children": 0.335,
    "with_replacement": 0.628,
    "k_seq": 0.645,
    "without_replacement": 0.675,
    "transport_independent": 0.679,
    "transport_different": 0.736,
}
FORMULAS = {"fixed_children": kept_by_children, "with_replacement": kept_with_replacement, "k_seq": kept_by_k_seq}
EXACT = partial(pytest.approx, abs=1e-9)


def random_pairs(count: int, tokens: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs spread evenly over all laws; every third has a token that one of the two never gives."""
    made = np.random.default_rng(seed)
    pairs = [tuple(made.dirichlet(np.ones(tokens), 2)) for _ in range(count)]
    for number in range(0, count, 3):
        law = pairs[number][number % 2]
        law[number % tokens] = 0
        law /= law.sum()
    return pairs


EDGES = [
    (P, P),
    (np.array([0.0, 0.0, 0.7, 0.3]), np.array([0.6, 0.4, 0.0, 0.0])),
    (np.array([0.4, 0.3, 0.2, 0.1]), np.array([1.0, 0.0, 0.0, 0.0])),
    (np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.4, 0.3, 0.2, 0.1])),
    (np.array([0.97, 0.01, 0.01, 0.01]), np.array([0.90, 0.06, 0.03, 0.01])),
]


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_worked_numbers(name, k):
    law, kept = law_of(SCHEMES[name](P, Q, k))
    assert kept == pytest.approx(KEPT[name][k - 1], abs=6e-6)
    assert law == EXACT(P)


def test_the_second_draft_by_hand():
    """Without replacement: .70, then after b, d or e (.15, .10, .05) the rest of q meets the residual in these."""
    _, kept = law_of(SCHEMES["without_replacement"](P, Q, 2))
    assert kept == EXACT(0.70 + 0.15 / 3 + 0.10 * (0.2 / 0.75) + 0.05 * (0.2 / 0.85))
    assert k_seq_scale(P, Q, 2) == pytest.approx(1.45678, abs=6e-6)
    assert k_seq_scale(P, Q, 3) == pytest.approx(1.79259, abs=6e-6)


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_every_law_is_the_targets(name, k):
    for target, draft in [*random_pairs(6, 5, seed=k), *EDGES]:
        law, kept = law_of(SCHEMES[name](target, draft, k))
        assert law == EXACT(target)
        assert 0 <= kept <= 1 + 1e-12
        if name in FORMULAS:
            assert kept == EXACT(FORMULAS[name](target, draft, k))


def test_eight_tokens_and_four_drafts():
    target, draft = np.random.default_rng(3).dirichlet(np.ones(8), 2)
    for scheme in SCHEMES.values():
        assert law_of(scheme(target, draft, 4))[0] == EXACT(target)


def test_the_mean_of_300_pairs():
    """Laws spread evenly over 6 tokens, two drafts; a mean of 300 pairs wanders by about .011."""
    made = np.random.default_rng(1)
    pairs = [made.dirichlet(np.ones(6), 2) for _ in range(300)]
    bounds = {
        "transport_independent": lambda target, draft: independent_bound(target, draft, 2).limit,
        "transport_different": lambda target, draft: transport_bound(target, different_drafts(draft, 2)).limit,
    }
    for name, mean in MEANS.items():
        kept_by = bounds.get(name, lambda target, draft: law_of(SCHEMES[name](target, draft, 2))[1])
        assert np.mean([kept_by(*pair) for pair in pairs]) == pytest.approx(mean, abs=0.04), name


@pytest.mark.parametrize("k", [2, 3])
def test_the_order_of_the_schemes(k):
    """No rule beats the transport of its own kind of drafts. K-SEQ and without replacement have no order."""
    k_seq_ahead = set()
    for target, draft in random_pairs(40, 5, seed=10 + k):
        kept = {name: law_of(scheme(target, draft, k))[1] for name, scheme in SCHEMES.items()}
        assert kept["with_replacement"] <= kept["transport_independent"] + 1e-9
        assert kept["k_seq"] <= kept["transport_independent"] + 1e-9
        assert kept["k_seq"] >= (1 - 1 / np.e) * kept["transport_independent"] - 1e-9
        assert kept["without_replacement"] <= kept["transport_different"] + 1e-9
        if abs(kept["k_seq"] - kept["without_replacement"]) > 1e-6:
            k_seq_ahead.add(kept["k_seq"] > kept["without_replacement"])
    assert k_seq_ahead == {True, False}


def largest_flow(target: np.ndarray, drafts: dict[tuple[int, ...], float]) -> float:
    """The most that can be kept, tuple by tuple: a dense linear programme, a variable for each tuple and token."""
    tuples, size = list(drafts), len(target)
    kept = np.zeros((len(tuples), size))
    for row, ids in enumerate(tuples):
        kept[row, list(ids)] = 1
    per_tuple = np.kron(np.eye(len(tuples)), np.ones(size))
    per_token = np.kron(np.ones(len(tuples)), np.eye(size))
    limits = [(0, None if allowed else 0) for allowed in kept.flatten()]
    found = optimize.linprog(
        -kept.flatten(),
        A_ub=np.vstack([per_tuple, per_token]),
        b_ub=np.concatenate([list(drafts.values()), target]),
        bounds=limits,
    )
    return -found.fun


@pytest.mark.parametrize("drawn", [independent_drafts, different_drafts])
def test_the_bound_is_the_largest_flow_and_is_reached(drawn):
    reached = SCHEMES["transport_independent" if drawn is independent_drafts else "transport_different"]
    for k in (1, 2, 3):
        for target, draft in [*random_pairs(4, 4, seed=20 + k), *EDGES]:
            drafts = drawn(draft, k)
            bound = transport_bound(target, drafts)
            assert sum(drafts.values()) == EXACT(1)
            assert bound.limit == pytest.approx(largest_flow(target, drafts), abs=1e-7)
            assert bound.limit == pytest.approx(law_of(reached(target, draft, k))[1], abs=1e-7)
            assert bound.limit == EXACT(bound.wanted + 1 - bound.offered)
            assert bound.wanted == EXACT(target[list(bound.tight)].sum())


def test_prefixes_are_enough_for_independent_drafts():
    for k in (1, 2, 3, 4):
        for target, draft in [*random_pairs(40, 6 if k < 4 else 5, seed=30 + k), *EDGES]:
            short, whole = independent_bound(target, draft, k), transport_bound(target, independent_drafts(draft, k))
            assert short.tight == whole.tight
            assert (short.limit, short.wanted, short.offered) == EXACT((whole.limit, whole.wanted, whole.offered))


def test_the_tight_sets_of_the_example():
    two = independent_bound(P, Q, 2)
    assert two.tight == (1, 3, 4)
    assert (two.wanted, two.offered, two.limit) == EXACT((0.50, 0.64, 0.86))
    different = transport_bound(P, different_drafts(Q, 2))
    assert different.tight == (1, 2, 3, 4)
    assert transport_bound(P, different_drafts(Q, 3)).tight == ()


def test_one_draft_gives_the_overlap():
    for target, draft in [*random_pairs(20, 6, seed=40), *EDGES]:
        overlap = np.minimum(target, draft).sum()
        assert independent_bound(target, draft, 1).limit == EXACT(overlap)
        assert transport_bound(target, different_drafts(draft, 1)).limit == EXACT(overlap)
        for name in SCHEMES.keys() - {"fixed_children"}:
            assert law_of(SCHEMES[name](target, draft, 1))[1] == pytest.approx(overlap, abs=1e-7), name


def test_more_drafts_never_keep_less():
    for target, draft in [*random_pairs(10, 4, seed=50), *EDGES]:
        for name, scheme in SCHEMES.items():
            kept = [law_of(scheme(target, draft, k))[1] for k in (1, 2, 3, 4)]
            assert all(more >= less - 1e-7 for less, more in zip(kept, kept[1:])), name
    limits = [independent_bound(P, Q, k).limit for k in (1, 2, 3, 4, 50)]
    assert limits == sorted(limits) and limits[-1] == EXACT(1)


def test_fixed_children_reach_their_own_bound():
    for target, draft in random_pairs(10, 6, seed=60):
        children = tuple(np.argsort(-draft)[:2].tolist())
        assert transport_bound(target, {children: 1.0}).limit == EXACT(kept_by_children(target, draft, 2))


def test_greedy_targets_accept_what_they_would_say():
    """At temperature 0 fixed children keep a draft exactly if the target's token is among them."""
    target = np.eye(4)[2]
    draft = np.array([0.4, 0.3, 0.2, 0.1])
    assert [law_of(SCHEMES["fixed_children"](target, draft, k))[1] for k in (1, 2, 3)] == [0, 0, 1]


def test_the_procedures_drawn_with_chance():
    """The very procedures that are enumerated, run on random numbers: 5 000 runs wander by .006."""
    made = np.random.default_rng(0)
    choose = lambda chances: int(np.searchsorted(np.cumsum(chances), made.random() * sum(chances)))  # noqa: E731
    for name in ("without_replacement", "k_seq"):
        procedure = SCHEMES[name](P, Q, 2)
        kept = np.mean([procedure(choose).kept for _ in range(5_000)])
        assert kept == pytest.approx(KEPT[name][1], abs=0.03)


def wrong_recursion(owed_after, offered_after, target, draft, k):
    """Recursive rejection with a step of one's own."""

    def procedure(choose):
        owed, offered = target, draft
        for _ in range(k):
            token = choose(offered)
            chance = min(1.0, owed[token] / offered[token])
            if choose((chance, 1 - chance)) == 0:
                return Outcome(True, np.eye(len(target))[token])
            owed = owed_after(owed, offered)
            offered = offered_after(offered, token)
        return Outcome(False, owed / owed.sum())

    return procedure


def residual(owed, offered):
    left = np.maximum(0, owed - offered)
    return left / left.sum()


def without(law, token):
    rest = np.where(np.arange(len(law)) == token, 0.0, law)
    return rest / rest.sum()


WRONG = {
    "the residual is not scaled": (lambda owed, offered: np.maximum(0, owed - offered), without),
    "the second draft is tested against p": (lambda owed, offered: owed, without),
    "the residual is taken against q, not the law that drew": (lambda owed, offered: residual(owed, Q), without),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_scheme_is_noticed(fault):
    """The negative control: with the right steps the same skeleton is exact, with a wrong one it is not."""
    law, kept = law_of(wrong_recursion(residual, without, P, Q, 2))
    assert law == EXACT(P) and kept == pytest.approx(KEPT["without_replacement"][1], abs=6e-6)
    law, _ = law_of(wrong_recursion(*WRONG[fault], P, Q, 2))
    assert np.abs(law - P).sum() / 2 > 0.002
