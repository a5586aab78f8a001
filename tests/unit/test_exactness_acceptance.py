"""Acceptance by rule from a trace: equal to the engine where the trace keeps every token, bounds elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from specdec import recording  # noqa: E402
from specdec.exactness.acceptance import at_position, kept_a_round, over_run  # noqa: E402
from specdec.exactness.laws import closed_form  # noqa: E402
from specdec.settings import Settings  # noqa: E402

TARGET = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.6, 0.2, 0.1], [0.3, 0.3, 0.3, 0.1], [0.7, 0.1, 0.1, 0.1]]
DRAFT = [[0.3, 0.3, 0.1, 0.3], [0.2, 0.3, 0.4, 0.1], [0.1, 0.6, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25]]


@pytest.fixture(scope="module")
def trace(table_pair):
    return recording.decode(table_pair(TARGET, DRAFT), "t1", gamma=3, max_new_tokens=80, seed=3, chat=False)


def test_equals_the_exact_law_where_all_tokens_are_kept(trace):
    settings = trace.settings
    for round_ in trace.rounds:
        for position in round_.positions[: round_.tested]:
            p = torch.zeros(4, dtype=torch.float64)
            q = torch.zeros(4, dtype=torch.float64)
            for c in position.candidates:
                p[c.id], q[c.id] = c.p, c.q or 0
            for rule, bounds in at_position(position, settings).items():
                expected = closed_form(settings.changed(rule=rule), p, q)[1]
                assert bounds.low - 1e-4 <= expected <= bounds.high + 1e-4, rule
                assert bounds.high - bounds.low < 1e-4, rule


def test_mean_over_the_run_is_the_metric(trace):
    assert over_run(trace)["token"].low == pytest.approx(trace.metrics.mean_overlap)


def test_bounds_hold_where_only_some_tokens_are_kept(table_pair):
    made = torch.Generator().manual_seed(0)
    target, draft = (torch.rand(40, 40, generator=made).pow(3) for _ in range(2))
    pair = table_pair(target, draft)
    run = recording.decode(pair, "t1", gamma=3, max_new_tokens=40, seed=1, chat=False)
    target, draft = (table.double() / table.double().sum(-1, keepdim=True) for table in (target, draft))
    last = 1
    for round_ in run.rounds:
        context = last
        for position in round_.positions[: round_.tested]:
            for rule, bounds in at_position(position, run.settings).items():
                expected = closed_form(run.settings.changed(rule=rule), target[context], draft[context])[1]
                assert bounds.low - 1e-4 <= expected <= bounds.high + 1e-4, rule
            context = position.draft_id
        last = run.output.ids[sum(r.emitted for r in run.rounds[: run.rounds.index(round_) + 1]) - 1]


def test_kept_a_round_orders_the_rules(trace):
    kept = kept_a_round(trace)
    assert kept["match"].high < kept["token"].low < kept["lenient"].high
    assert kept["block"].low <= kept["block"].high


def test_block_verification_by_hand(table_pair):
    """p = (1/3, 2/3), q = (2/3, 1/3), two drafts: of the drafts AB it keeps 2, of AA 1/2, of BA 3/2, of BB 2."""
    run = recording.decode(table_pair([1 / 3, 2 / 3], [2 / 3, 1 / 3]), "t1", gamma=2, max_new_tokens=200, seed=0, chat=False)
    by_hand = {(0, 0): (0.75, 0.5), (0, 1): (1, 2), (1, 0): (1.5, 1.5), (1, 1): (2, 2)}
    run = replace(run, rounds=tuple(round_ for round_ in run.rounds if round_.drafted == 2))
    kept, count = kept_a_round(run), len(run.rounds)
    hand = [by_hand[tuple(p.draft_id for p in round_.positions if p.draft_id is not None)] for round_ in run.rounds]
    assert kept["token"].low == pytest.approx(sum(token for token, _ in hand) / count, abs=1e-4)
    assert kept["block"].low - 1e-4 <= sum(block for _, block in hand) / count <= kept["block"].high + 1e-4


def test_nothing_where_nothing_was_drafted(table_pair):
    run = recording.decode(table_pair(TARGET), "t1", Settings(gamma=0, chat=False, max_new_tokens=3))
    assert at_position(run.positions[0], run.settings) == {}
    assert over_run(run) == {} and kept_a_round(run) == {}
