"""One prompt under every length policy, and all that the tab "Drafting" measures, on tables and a stub clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specdec.settings import POLICIES, BadInput, Settings
from specdec.timing.policies import MOST, PolicyRuns, run_policies
from specdec.timing.records import from_json
from visualizations.drafting import works

CYCLE = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
EVEN = [[0.5, 0.25, 0.25]] * 3
SETTINGS = Settings(chat=False, max_new_tokens=30)


def last(growing):
    *_, record = growing
    return record


def test_every_policy_gets_a_run_of_the_same_length(stub_pair) -> None:
    runs = last(run_policies(stub_pair(EVEN, EVEN), "t0 t1", SETTINGS))
    assert [run.policy for run in runs.runs] == list(POLICIES) and runs.done == runs.total == len(POLICIES)
    for run in runs.runs:
        assert sum(round_.emitted for round_ in run.rounds) == 30
        assert all(round_.accepted <= round_.tested <= len(round_.drafts) <= round_.limit <= MOST for round_ in run.rounds)
    assert from_json(PolicyRuns, runs.to_json()) == runs


def test_laws_are_looked_at_with_temperature_one(stub_pair) -> None:
    """log 2 + ... = 1.04 nats of (1/2, 1/4, 1/4) is above 0.6, so the policy `entropy` makes one draft a round."""
    runs = last(run_policies(stub_pair(EVEN, EVEN), "t0 t1", SETTINGS.changed(temperature=0.0, top_k=1)))
    fixed, entropy = runs.run("fixed"), runs.run("entropy")
    assert all(draft.entropy == pytest.approx(1.0397, abs=1e-4) and draft.chance in (0.5, 0.25) for r in fixed.rounds for draft in r.drafts)
    assert {len(round_.drafts) for round_ in entropy.rounds[:-1]} == {1}
    assert entropy.rounds[0].stopped == "entropy" and entropy.rounds[0].doubt == pytest.approx(1.0397, abs=1e-4)


def test_both_of_part_one_count_as_one_measurement(stub_pair) -> None:
    records = list(works.policies(stub_pair(CYCLE, CYCLE), "t0 t1", SETTINGS, repeats=2))
    assert [record.done for record in records] == sorted(record.done for record in records)
    assert {record.total for record in records} == {len(POLICIES) + 2 * (1 + len(works.FIXED) + len(POLICIES) - 1)}
    assert records[-1].done == records[-1].total and records[0].comparison is None
    assert {way.settings.drafter for way in records[-1].comparison.ways} == {"model"}


def test_a_pair_without_a_draft_is_refused_in_a_sentence(stub_pair) -> None:
    alone = replace(stub_pair(CYCLE, CYCLE), draft=None)
    measurements = (
        lambda: works.policies(alone, "t0", SETTINGS, 1),
        lambda: works.dependence(alone, ["t0"], ["code"], SETTINGS),
        lambda: works.drafters(alone, ["t0"], SETTINGS, 1),
        lambda: works.costs(alone, 1),
    )
    for measure in measurements:
        with pytest.raises(BadInput, match="pair with a draft model"):
            next(iter(measure()))
