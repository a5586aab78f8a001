"""Laws beyond the first token: texts of several tokens, each place of a text, and one long run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from specdec.recording import decode, run
from specdec.settings import EXACT_RULES, Settings

MARKOV_TARGET = [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2]]
MARKOV_DRAFT = [[0.3, 0.3, 0.4], [0.5, 0.1, 0.4], [0.2, 0.6, 0.2]]
TOKENS_A_RUN = 300


def texts(pair, settings: Settings, number: int, length: int) -> list[tuple[int, ...]]:
    """So many texts out of long runs: a last token, and the `length` tokens from the next round on.

    Where a round begins says nothing of what it will write, so each text is a draw of its own from the chain of the
    token that it begins with. None overlaps another, and none has a round that the end of its run cut short.
    """
    found: list[tuple[int, ...]] = []
    for seed in count():
        ids, starts, free = [0], [], 0
        for round_ in run(pair, [0], replace(settings, seed=seed, max_new_tokens=TOKENS_A_RUN)):
            starts.append(len(ids))
            ids += round_.emitted
        for start in starts:
            if free <= start <= 1 + TOKENS_A_RUN - settings.gamma - length:
                free = start + length
                found.append(tuple(ids[start - 1 : free]))
        if len(found) >= number:
            return found[:number]


def chain_law(table: list[list[float]], first: int, length: int) -> dict[tuple[int, ...], float]:
    """Of the texts that begin with `first` and have `length` tokens more."""
    laws = {(first,): 1.0}
    for _ in range(length):
        laws = {(*text, t): mass * table[text[-1]][t] for text, mass in laws.items() for t in range(len(table))}
    return laws


def least_p_value(laws, pair, settings: Settings, number: int) -> float:
    """Three tokens from the beginning of a round on, each token before them judged for itself."""
    counts = Counter(texts(pair, settings, number, 3))
    chains = [chain_law(MARKOV_TARGET, first, 3) for first in range(3)]
    return min(laws.p_value([counts[text] for text in chain], list(chain.values())) for chain in chains)


@pytest.mark.parametrize(("gamma", "rule"), [(0, "token"), *((gamma, rule) for gamma in (1, 3) for rule in EXACT_RULES)])
def test_three_tokens_have_the_joint_law_of_the_targets_chain(laws, table_pair, rule, gamma):
    """A bonus or a replacement drawn from the wrong place of the block shows here, not in the first token."""
    settings = Settings(gamma=gamma, rule=rule)
    least = least_p_value(laws, table_pair(MARKOV_TARGET, MARKOV_DRAFT), settings, 6_000)
    assert least > laws.FALSE_ALARM / 3, "three chances of a false alarm"


def test_a_bonus_from_the_last_drafts_row_is_caught(laws, plant, table_pair):
    """Control of the test above: after a full accept the target's row of the last draft is used again."""
    from specdec.decoding.rules import DraftByDraft, Verdict, from_residual, ratio

    def one_row_early(target_probs, draft_probs, draft_ids, coins) -> Verdict:
        verdict = DraftByDraft(ratio, from_residual)(target_probs, draft_probs, draft_ids, coins)
        full = int(verdict.accepted) == len(draft_ids) > 0
        return replace(verdict, next_probs=target_probs[-2]) if full else verdict

    plant("decoding.loop.rule_of", lambda settings: one_row_early)
    least = least_p_value(laws, table_pair(MARKOV_TARGET, MARKOV_DRAFT), Settings(gamma=1), 3_000)
    assert least < laws.FALSE_ALARM / 3


@pytest.mark.parametrize(
    ("target", "draft"),
    [([0.4, 0.35, 0.25], [0.4, 0.35, 0.25]), ([0.4, 0.35, 0.25], [0.2, 0.35, 0.45])],
    ids=["same model", "other draft"],
)
def test_every_place_of_a_text_is_sampled_not_maximised(laws, table_pair, target, draft):
    found = np.array(texts(table_pair(target, draft), Settings(gamma=4), 2_000, 10))
    for place in range(1, 11):
        assert laws.p_value(np.bincount(found[:, place], minlength=3), target) > laws.FALSE_ALARM


def test_accepted_replaced_and_bonus_tokens_all_vary(table_pair):
    pair = table_pair([0.4, 0.35, 0.25], [0.2, 0.25, 0.55])
    seen: dict[str, set[int]] = {}
    for seed in range(100):
        for position in decode(pair, "t0", chat=False, gamma=2, seed=seed, max_new_tokens=10).positions:
            seen.setdefault(position.kind, set()).add(position.token_id)
    assert seen["accepted"] == seen["bonus"] == {0, 1, 2}
    assert seen["replaced"] == {0, 1}, "the residual of these laws has the mass of ids 0 and 1 only"


def test_consecutive_seeds_give_the_law_and_unrelated_coins(laws, table_pair):
    pair, runs = table_pair([0.1, 0.6, 0.3], [0.35, 0.3, 0.35]), 10_000
    counts, noise = np.zeros(3, dtype=int), []
    for seed in range(runs):
        first = next(run(pair, [0], Settings(gamma=1, seed=seed, max_new_tokens=2)))
        counts[first.emitted[0]] += 1
        noise.append((first.proposal.uniforms[0], first.coins[0], first.next_uniform))
    assert laws.p_value(counts, [0.1, 0.6, 0.3]) > laws.FALSE_ALARM, counts
    correlations = np.corrcoef(np.array(noise).T)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 6 / runs**0.5
    neighbours = np.array(noise)
    across = [np.corrcoef(neighbours[1:, i], neighbours[:-1, j])[0, 1] for i in range(3) for j in range(3)]
    assert np.abs(across).max() < 6 / runs**0.5


def test_one_long_run_has_the_law_at_every_token_and_no_memory(laws, table_pair):
    settings = Settings(gamma=3, seed=0, max_new_tokens=12_000)
    ids = [t for round_ in run(table_pair([0.1, 0.6, 0.3], [0.35, 0.3, 0.35]), [0], settings) for t in round_.emitted]
    assert laws.p_value(np.bincount(ids, minlength=3), [0.1, 0.6, 0.3]) > laws.FALSE_ALARM
    pairs = Counter(zip(ids[::2], ids[1::2]))
    law = np.outer([0.1, 0.6, 0.3], [0.1, 0.6, 0.3])
    assert laws.p_value([[pairs[a, b] for b in range(3)] for a in range(3)], law) > laws.FALSE_ALARM
