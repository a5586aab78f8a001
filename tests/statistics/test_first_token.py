"""The first token of speculative decoding has the target's law, whatever the draft, rule and settings."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from specdec.settings import EXACT_RULES, Settings

ROUNDS = 10_000  # twice what shows each of the planted faults


@dataclass(frozen=True)
class Case:
    """Tables at temperature 1; p, q: their laws under the settings, worked out by hand; all unnormalised."""

    target: list[float]
    draft: list[float]
    p: list[float]
    q: list[float]
    settings: dict = field(default_factory=dict)


PLAIN = Case([0.5, 0.3, 0.2], [0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.6, 0.3, 0.1])
EQUAL = Case([0.51, 0.49], [0.51, 0.49], [0.51, 0.49], [0.51, 0.49])
CASES = {
    "far apart": Case([0.6, 0.3, 0.1], [0.1, 0.3, 0.6], [0.6, 0.3, 0.1], [0.1, 0.3, 0.6]),
    "top-k": Case([0.4, 0.3, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2], [4, 3, 0, 0], [0, 4, 3, 0], {"top_k": 2}),
    "top-p": Case([0.4, 0.3, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2], [4, 3, 2, 0], [0, 4, 3, 2], {"top_p": 0.8}),
    "temperature": Case([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [25, 9, 4], [4, 9, 25], {"temperature": 0.5}),
    "warmer draft": Case(
        [0.5, 0.3, 0.2],
        [0.5, 0.3, 0.2],
        [0.57074, 0.27511, 0.15415],
        [0.44360, 0.31557, 0.24083],
        {"temperature": 0.7, "draft_temperature": 1.5},
    ),
}


def shares(weights: list[float]) -> np.ndarray:
    return np.asarray(weights, dtype=float) / sum(weights)


def acceptance(rule: str, p: np.ndarray, q: np.ndarray) -> float:
    return float((p * q).sum() if rule == "match" else np.minimum(p, q).sum())


def check(laws, pair, case: Case, rule: str = "token", **settings) -> None:
    """The first tokens follow p, and as many first drafts are accepted as p, q and the rule say."""
    p, q = shares(case.p), shares(case.q)
    if settings.get("draft_temperature") == 0:
        q = np.eye(len(q))[q.argmax()]
    found = laws.first_tokens(pair, Settings(**{"gamma": 1, "rule": rule} | case.settings | settings), ROUNDS)
    assert laws.p_value(found.counts, p) > laws.FALSE_ALARM, found
    assert laws.share_p_value(found.accepted, ROUNDS, acceptance(rule, p, q)) > laws.FALSE_ALARM, found


@pytest.mark.parametrize("rule", EXACT_RULES)
@pytest.mark.parametrize("draft_temperature", [None, 0], ids=["sampled draft", "greedy draft"])
def test_every_exact_rule_keeps_the_targets_law_with_a_sampled_and_a_greedy_draft(laws, table_pair, rule, draft_temperature):
    check(laws, table_pair(PLAIN.target, PLAIN.draft), PLAIN, rule, draft_temperature=draft_temperature)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_law_is_the_targets_under_every_filter_and_temperature(laws, table_pair, case):
    check(laws, table_pair(case.target, case.draft), case)


def test_a_greedy_draft_of_the_same_model_is_accepted_as_often_as_its_token_is_likely(laws, table_pair):
    check(laws, table_pair(EQUAL.target, EQUAL.draft), EQUAL, draft_temperature=0)


def test_a_draft_that_inherits_the_temperature_of_the_same_model_is_always_accepted(laws, table_pair):
    found = laws.first_tokens(table_pair([0.5, 0.3, 0.2], [0.5, 0.3, 0.2]), Settings(gamma=1, temperature=0.7), 2000)
    assert found.accepted == found.rounds


def test_a_draft_that_the_filtered_target_can_never_say_is_never_accepted(laws, table_pair):
    found = laws.first_tokens(table_pair([0.6, 0.4], [0, 1]), Settings(gamma=1, top_k=1), ROUNDS // 2)
    assert found.counts.tolist() == [found.rounds, 0] and found.accepted == 0


def test_prompt_lookup_keeps_the_targets_law(laws, table_pair):
    """The prompt is one word twice, so its repetition is proposed, and later what followed a word before: one-hot drafts."""
    found = laws.first_tokens(table_pair([0.2, 0.5, 0.3]), Settings(drafter="prompt_lookup", gamma=2), ROUNDS, prompt=(2, 2))
    assert found.drafted > 0.9 * found.rounds
    assert laws.p_value(found.counts, [0.2, 0.5, 0.3]) > laws.FALSE_ALARM
