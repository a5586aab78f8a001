"""How long drafts are: each policy's replay by hand, and in the loop."""

from __future__ import annotations

import pytest
import torch

from specdec.decoding.lengths import (
    PRIOR_RATE,
    RATE_RETURN,
    RATE_STEP,
    Certain,
    Confident,
    Doubt,
    Expected,
    Fixed,
    Heuristic,
    policy_of,
)
from specdec.decoding.probabilities import entropy, probabilities
from specdec.exactness.theory import best_gamma
from specdec.models.table import TableModel
from specdec.recording import decode, run
from specdec.settings import MAX_GAMMA, POLICIES, BadInput, Sampling, Settings


def lengths(policy, matches) -> list[int]:
    """Limits of the rounds in which so many were accepted of all that might be drafted ("all": every one)."""
    found = []
    for match in matches:
        found.append(policy.limit)
        policy = policy.after(policy.limit, policy.limit, policy.limit if match == "all" else match)
    return [*found, policy.limit]


def test_the_heuristic_grows_by_two_and_shrinks_by_one():
    assert lengths(Heuristic(MAX_GAMMA), ["all", 2, "all", 0, 3]) == [5, 7, 6, 8, 7, 6]
    assert lengths(Heuristic(MAX_GAMMA, length=2), [0, 0, 0]) == [2, 1, 1, 1]
    assert lengths(Heuristic(6), ["all", "all", 0]) == [5, 6, 6, 5]


def test_the_heuristic_judges_what_was_really_drafted():
    """Drafts cut to two and accepted each time let it grow; a round without drafts says nothing."""
    policy, found = Heuristic(MAX_GAMMA), []
    for _ in range(3):
        found.append(policy.limit)
        policy = policy.after(2, 2, 2)
    assert [*found, policy.limit] == [5, 7, 9, 11]
    assert policy.after(0, 0, 0) == policy


Q = torch.tensor([0.10, 0.40, 0.10, 0.25, 0.15])


@pytest.mark.parametrize(
    ("law", "nats", "stops"),
    [
        ([0.97, 0.01, 0.01, 0.005, 0.005], 0.175, False),
        ([0.85, 0.05, 0.05, 0.03, 0.02], 0.621, True),
        ([0.5, 0.5, 0, 0, 0], 0.693, True),
        (Q.tolist(), 1.458, True),
    ],
)
def test_an_uncertain_draft_is_the_last(law, nats, stops):
    """sqrt(0.15 H) > 0.3 is H > 0.6 nats."""
    logits = torch.tensor(law).log()
    assert float(entropy(logits.softmax(-1))) == pytest.approx(nats, abs=1e-3)
    assert ((0.15 * nats) ** 0.5 > 0.3) == stops
    doubt = Certain(4, 0.6).doubt(logits, logits.softmax(-1), torch.tensor([0]))
    assert doubt == (Doubt("entropy", pytest.approx(nats, abs=1e-3)) if stops else None)


def test_the_entropy_is_that_of_the_law_before_temperature_and_filters():
    logits, filtered = Q.log(), Sampling(0.1, 1)
    doubt = Certain(4, 0.6).doubt(logits, probabilities(logits, filtered), torch.tensor([1]))
    assert doubt == Doubt("entropy", pytest.approx(1.458, abs=1e-3))


@pytest.mark.parametrize(("draft_id", "threshold", "doubt"), [(1, 0.4, None), (3, 0.4, 0.25), (3, 0.25, None)])
def test_an_unlikely_draft_is_the_last(draft_id, threshold, doubt):
    found = Confident(4, threshold).doubt(Q.log(), Q, torch.tensor([draft_id]))
    assert found == (doubt and Doubt("confidence", pytest.approx(doubt)))


@pytest.mark.parametrize(("threshold", "doubt"), [(0.5, 0.4), (0.4, None)])
def test_a_greedy_draft_is_as_sure_as_its_law_at_temperature_one(threshold, doubt):
    certain = probabilities(Q.log(), Sampling(temperature=0.0))
    found = Confident(4, threshold).doubt(Q.log(), certain, torch.tensor([1]))
    assert found == (doubt and Doubt("confidence", pytest.approx(doubt)))


@pytest.mark.parametrize(("threshold", "drafted"), [(0.5, 3), (0.0, 4), (1.0, 1)])
def test_drafting_ends_at_the_first_unsure_draft_which_is_kept(pair_of, threshold, drafted):
    """Ids 1, 2, 3, 4 follow one another, drafted with .9, .8, .3, .9."""
    sure = torch.full((6, 6), 1e-6)
    for here, chance in enumerate([0.9, 0.8, 0.3, 0.9, 0.9]):
        sure[here] = (1 - chance) / 5
        sure[here, here + 1] = chance
    target, draft = TableModel(sure.double()), TableModel(sure.double())
    settings = Settings(policy="confidence", confidence_threshold=threshold, gamma=4, max_new_tokens=9)
    firsts = (next(iter(run(pair_of(target, draft), [0], settings.changed(seed=seed)))) for seed in range(300))
    first = next(round_ for round_ in firsts if round_.proposal.ids.tolist() == [1, 2, 3, 4][:drafted])
    assert first.stopped == ("limit" if drafted == 4 else "confidence") and first.limit == 4


@pytest.mark.parametrize("cost", [0.05, 0.1, 0.2, 0.5])
@pytest.mark.parametrize("alpha", [0.5, 0.6, 0.7, 0.8, 0.9])
def test_the_expected_length_is_the_closed_forms_best(alpha, cost):
    assert Expected((alpha,) * 32, cost, 0.0).limit == best_gamma(alpha, cost)[0]


def test_the_expected_length_uses_each_places_own_rate():
    """(1 + a1 + a1 a2 + ...) / (1 + n (c + t)): worked out for rates .9, .2, .9."""
    policy = Expected((0.9, 0.2, 0.9), draft_cost=0.08, token_cost=0.02)
    speedups = [1, 1.9 / 1.1, 2.08 / 1.2, 2.242 / 1.3]
    assert policy.limit == speedups.index(max(speedups)) == 2
    assert Expected((0.1, 0.1), draft_cost=0.4, token_cost=0.1).limit == 0, "drafting may not pay at all"


def test_the_expected_length_learns_from_tested_drafts_alone():
    policy = Expected((0.5, 0.5, 0.5, 0.5), 0.07, 0.02).after(4, 3, 2)
    up, down = 0.5 + RATE_STEP * 0.5, 0.5 - RATE_STEP * 0.5
    assert policy.rates == pytest.approx((up, up, down, 0.5))
    idle = Expected((0.1, 0.9), 0.07, 0.02).after(0, 0, 0)
    assert idle.rates == pytest.approx((0.1 + RATE_RETURN * (PRIOR_RATE - 0.1), 0.9 + RATE_RETURN * (PRIOR_RATE - 0.9)))


def test_a_policy_that_gave_up_tries_again(table_pair):
    """A draft that is always wrong brings the length to 0; the rates come back, and it drafts once more."""
    always, never = [[0, 0, 1.0]] * 3, [[0, 1.0, 0]] * 3
    settings = Settings(policy="expected", gamma=4, draft_cost=0.3, max_new_tokens=120)
    drafted = [len(r.proposal) for r in run(table_pair(always, never), [0], settings)]
    rest = drafted.index(0)
    assert any(drafted[rest:]), drafted


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("gamma", [0, 1, 5])
def test_a_policy_never_drafts_more_than_gamma(llama_pair, policy, gamma):
    settings = Settings(policy=policy, gamma=gamma, max_new_tokens=30, temperature=0.9)
    rounds = list(run(llama_pair(0, 1), [3, 1, 4], settings))
    assert all(len(r.proposal) <= r.limit <= gamma for r in rounds)
    assert sum(len(r.emitted) for r in rounds) == 30


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("drafter", ["model", "lookup_then_model"])
def test_greedy_text_does_not_depend_on_the_policy(llama_pair, policy, drafter):
    greedy = Settings(temperature=0, max_new_tokens=40, policy=policy, drafter=drafter, gamma=6)
    pair = llama_pair(0, 1)
    texts = [[i for r in run(pair, [3, 1, 4, 3, 1], s) for i in r.emitted] for s in (greedy, greedy.changed(gamma=0))]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_seed_repeats_a_run_under_every_policy(llama_pair, policy):
    settings = Settings(policy=policy, gamma=5, max_new_tokens=40, seed=3, chat=False)
    traces = [decode(llama_pair(0, 1), "t3 t1", settings) for _ in range(2)]
    assert traces[0].output == traces[1].output
    assert [r.stopped for r in traces[0].rounds] == [r.stopped for r in traces[1].rounds]


def test_each_run_begins_anew(llama_pair):
    settings = Settings(policy="heuristic", gamma=9, max_new_tokens=40)
    pair = llama_pair(0, 0)
    limits = [[r.limit for r in run(pair, [3, 1], settings)] for _ in range(2)]
    assert limits[0] == limits[1] and limits[0][:3] == [5, 7, 9]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"policy": "svip"}, "policy"),
        ({"policy": None}, "policy"),
        ({"confidence_threshold": 1.5}, "confidence_threshold"),
        ({"entropy_threshold": -0.1}, "entropy_threshold"),
        ({"entropy_threshold": float("nan")}, "entropy_threshold"),
        ({"draft_cost": -1}, "draft_cost"),
        ({"token_cost": "cheap"}, "token_cost"),
        ({"lookup_match": 0}, "lookup_match"),
    ],
)
def test_a_policys_parameters_are_checked(values, named):
    with pytest.raises(BadInput, match=named):
        Settings.checked(**values)


def test_every_policy_of_the_settings_is_there():
    kinds = [type(policy_of(Settings(policy=key, gamma=3))) for key in POLICIES]
    assert kinds == [Fixed, Heuristic, Confident, Certain, Expected]
