"""Whatever decides how long a draft is and who drafts it, the text keeps the target's law: through the loop itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from specdec.recording import run
from specdec.settings import EXACT_RULES, POLICIES, Settings

TARGET = [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2]]
DRAFT = [[0.3, 0.3, 0.4], [0.5, 0.1, 0.4], [0.2, 0.6, 0.2]]
PROMPT = [0, 1, 2, 0, 1]  # something to copy from the first token on
TOKENS = 4_000


def least_p_value(laws, pair, settings: Settings) -> float:
    """One long text: what followed each token, against the target's row. Independent given the row."""
    ids = PROMPT[-1:] + [token for round_ in run(pair, PROMPT, settings) for token in round_.emitted]
    pairs = Counter(zip(ids, ids[1:]))
    return min(laws.p_value([pairs[a, b] for b in range(3)], TARGET[a]) for a in range(3))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("rule", EXACT_RULES)
def test_copies_and_drafts_of_any_length_keep_the_law(laws, table_pair, rule, policy):
    settings = Settings(
        rule=rule, policy=policy, drafter="lookup_then_model", lookup_match=6, gamma=3, entropy_threshold=0.95, max_new_tokens=TOKENS
    )
    assert least_p_value(laws, table_pair(TARGET, DRAFT), settings) > laws.FALSE_ALARM


@pytest.mark.parametrize("match", [1, 6])
@pytest.mark.parametrize("drafter", ["model", "prompt_lookup", "lookup_then_model"])
def test_every_drafter_keeps_the_law(laws, table_pair, drafter, match):
    settings = Settings(drafter=drafter, gamma=4, lookup_match=match, max_new_tokens=TOKENS)
    assert least_p_value(laws, table_pair(TARGET, DRAFT), settings) > laws.FALSE_ALARM


@pytest.mark.parametrize("policy", POLICIES)
def test_a_length_that_peeks_is_caught(laws, table_pair, policy):
    """Control: drafting stops in front of what the target would reject, and nothing else is wrong."""
    settings = Settings(rule="peeking", policy=policy, gamma=3, entropy_threshold=0.95, max_new_tokens=TOKENS)
    assert least_p_value(laws, table_pair(TARGET, DRAFT), settings) < laws.FALSE_ALARM


def test_copies_that_report_the_models_law_are_caught(laws, table_pair, monkeypatch):
    """Control: what was copied was not drawn from q; to say so changes the law."""
    from specdec.decoding.drafting import LookupThenModel

    def told_wrongly(self, committed, uniforms, policy):
        copies = self.lookup.propose(committed, uniforms, policy)
        law = self.model.propose(committed, uniforms, policy)
        if not len(copies):
            return law
        count = min(len(copies), len(law))

        return replace(copies.first(count), reported=law.probs[:count])

    monkeypatch.setattr(LookupThenModel, "propose", told_wrongly)
    settings = Settings(drafter="lookup_then_model", gamma=2, max_new_tokens=TOKENS)
    assert least_p_value(laws, table_pair(TARGET, DRAFT), settings) < laws.FALSE_ALARM


def test_both_kinds_of_drafts_took_part(table_pair):
    """Else the tests above would show nothing about mixing them."""
    settings = Settings(drafter="lookup_then_model", gamma=4, lookup_match=6, max_new_tokens=600)
    copied = [round_.proposal.copied for round_ in run(table_pair(TARGET, DRAFT), PROMPT, settings)]
    assert 0.1 < sum(count > 0 for count in copied) / len(copied) < 0.9
