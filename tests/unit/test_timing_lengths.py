"""Length policies and drafters side by side, on a stub clock."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from specdec.settings import POLICIES, Settings
from specdec.timing.clock import time_run
from specdec.timing.comparison import Comparison
from specdec.timing.lengths import (
    PLAIN,
    best_fixed,
    best_way,
    drafting_ways,
    gain,
    measure_lengths,
    pass_costs,
    rows_of_drafting,
    with_costs,
)
from specdec.timing.report import lengths_text

CYCLE = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
NEVER_RIGHT = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


@pytest.fixture
def measured(stub_pair):
    def measure(draft, step: float = 0.004, **settings) -> Comparison:
        pair = stub_pair(CYCLE, draft, step=step)
        *_, last = measure_lengths(pair, ["t0 t1", "t2"], Settings(chat=False, max_new_tokens=24, **settings), repeats=3)
        return last

    return measure


def by_key(comparison: Comparison) -> dict:
    return {way.key: comparison.row(index) for index, way in enumerate(comparison.ways)}


def test_every_policy_runs_with_the_model_and_behind_copying():
    ways = drafting_ways(Settings(), fixed=(2, 3), most=6)
    assert ways[0].key == PLAIN and ways[0].settings.gamma == 0
    keys = [way.key for way in ways]
    assert len(set(keys)) == len(keys)
    for drafter in ("model", "lookup_then_model"):
        assert {f"{drafter}_fixed_2", f"{drafter}_fixed_3"} <= set(keys)
        assert {f"{drafter}_{policy}_6" for policy in POLICIES if policy != "fixed"} <= set(keys)


def test_copies_cost_no_step_of_the_model_and_are_told_apart(stub_pair):
    pair = stub_pair(CYCLE, CYCLE, step=0.004)
    settings = Settings(chat=False, gamma=4, max_new_tokens=30, drafter="lookup_then_model")
    run = time_run(pair, [0, 1, 2, 0, 1], settings)
    assert run.copied == run.drafted > 0 and run.draft_steps == 0 and run.steps_per_round == 0
    alone = time_run(pair, [0], settings)
    assert 0 < alone.copied < alone.drafted
    assert alone.draft_steps == alone.drafted - alone.copied
    assert alone.draft_seconds == pytest.approx(0.004 * alone.draft_steps)


def test_the_prediction_charges_steps_and_not_copies(measured):
    """Only the models take time here, and a pass costs the same however wide: so it is met exactly."""
    comparison = measured(CYCLE)
    plain = comparison.way(PLAIN)
    checked = 0
    for index, way in enumerate(comparison.ways):
        result = comparison.result(index, plain)
        if index != plain:
            assert result.measured_over_predicted == pytest.approx(1.0, abs=1e-6), way.key
            checked += 1
    assert checked == 15


def test_a_draft_that_is_never_right_is_left_alone_by_the_policy_that_counts_and_beaten_by_copying(measured):
    comparison = measured(NEVER_RIGHT, temperature=0.0)
    rows = by_key(comparison)
    assert rows["model_fixed_4"].tokens_per_round == pytest.approx(1.0)
    assert rows["model_expected_8"].timing.drafted_per_round < rows["model_fixed_2"].timing.drafted_per_round
    assert comparison.ways[best_way(comparison)].settings.drafter != "model"
    assert comparison.ways[best_fixed(comparison)].key == "model_fixed_2"
    assert gain(comparison, best_way(comparison), best_fixed(comparison)).pooled > 1.5


def test_the_policy_expected_is_told_what_passes_cost_here(stub_pair, measured):
    costs = pass_costs(stub_pair(CYCLE, CYCLE, step=0.004, verify=0.020), most=8)
    settings = with_costs(Settings(), costs)
    assert settings.draft_cost == pytest.approx(0.2) and settings.token_cost == pytest.approx(0.0)
    comparison = measured(CYCLE)
    assert all(way.settings.draft_cost == pytest.approx(0.2) for way in comparison.ways)


def test_rows_and_text_say_what_was_measured(measured):
    comparison = measured(CYCLE)
    rows = rows_of_drafting(comparison)
    assert json.loads(json.dumps([asdict(row) for row in rows]))[0] == asdict(rows[0])
    assert [row.gamma for row in rows[:3]] == [2, 3, 4]
    certain = rows[2]
    assert (certain.policy, certain.drafter, certain.temperature) == ("fixed", "model", 1.0)
    assert certain.tokens_per_round == pytest.approx(24 / 5) and certain.low <= certain.speedup <= certain.high
    text = lengths_text(comparison)
    assert all(way.key in text for way in comparison.ways[1:]) and "fastest fixed length" in text
