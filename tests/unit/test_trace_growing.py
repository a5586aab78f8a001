"""A record that grows by a round: the same as the whole, at a cost that doesn't grow with it."""

from __future__ import annotations

import pickle

import pytest

from specdec.recording import decode, steps, stream
from specdec.settings import Settings
from specdec.trace.growing import GrowingTrace, Step
from specdec.trace.record import RunningMetrics, metrics_of
from specdec.trace.trace import Trace, check_identities
from tests.made_trace import made_trace

SETTINGS = Settings(chat=False, seed=5, max_new_tokens=40, gamma=3)
RUNS = {"drafted": {}, "plain": {"gamma": 0}, "lookup": {"drafter": "prompt_lookup"}, "block": {"rule": "block"}}


@pytest.fixture
def pair(table_pair):
    return table_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])


def parts_of(pair, **settings) -> tuple[Trace, list[Step]]:
    start, *rounds = steps(pair, "t0 t1", SETTINGS.changed(**settings))
    return start, rounds


@pytest.mark.parametrize("run", RUNS)
def test_the_parts_joined_are_the_whole(pair, run):
    start, rounds = parts_of(pair, **RUNS[run])
    assert not start.rounds and start.output.ids == ()
    growing = GrowingTrace(start)
    for count, step in enumerate(rounds, 1):
        growing.add(step)
        trace = growing.trace()
        check_identities(trace)
        assert len(trace.rounds) == len(growing) == count and trace.metrics == growing.metrics
        assert trace.output.text.endswith(step.text)
    whole = decode(pair, "t0 t1", SETTINGS.changed(**RUNS[run]))
    assert trace.output == whole.output and trace.prompt == whole.prompt and trace.settings == whole.settings
    assert [r.positions for r in trace.rounds] == [r.positions for r in whole.rounds]
    assert Trace.from_json(trace.to_json()) == trace


def test_the_parts_and_the_stream_tell_the_same(pair):
    _, rounds = parts_of(pair)
    *_, last = stream(pair, "t0 t1", SETTINGS)
    assert [step.round.positions for step in rounds] == [round_.positions for round_ in last.rounds]
    assert [step.stop_reason for step in rounds] == ["cancelled"] * (len(rounds) - 1) + ["length"]


def test_a_part_is_plain_data_whose_size_does_not_grow_with_the_run(pair):
    start, rounds = parts_of(pair, max_new_tokens=400)
    assert pickle.loads(pickle.dumps([start, *rounds])) == [start, *rounds]
    longest = max(len(step.round.positions) for step in rounds)
    sizes = [len(pickle.dumps(step)) for step in rounds if len(step.round.positions) == longest]
    assert max(sizes[-20:]) < 1.5 * max(sizes[:20])


def test_a_value_that_was_taken_does_not_grow(pair):
    start, rounds = parts_of(pair)
    growing = GrowingTrace(start)
    growing.add(rounds[0])
    early = growing.trace()
    growing.add(rounds[1])
    assert len(early.rounds) == 1 and early.output.stop_reason == "cancelled"


def test_metrics_that_grow_are_those_of_the_rounds_at_every_length():
    rounds = made_trace().rounds
    running = RunningMetrics(0.5)
    assert running.metrics() == metrics_of([], 0.5)
    for count, round_ in enumerate(rounds, 1):
        running.add(round_)
        metrics, part = running.metrics(), rounds[:count]
        assert metrics == metrics_of(part, 0.5)
        assert metrics.rounds == count
        assert metrics.emitted == sum(one.emitted for one in part)
        assert metrics.tested_by_place == tuple(
            sum(one.tested > place for one in part) for place in range(max(one.tested for one in part))
        )
        assert sum(metrics.accepted_by_place) == metrics.accepted == sum(one.accepted for one in part)
        overlaps = [p.overlap for one in part for p in one.positions[: one.tested]]
        assert metrics.mean_overlap == pytest.approx(sum(overlaps) / len(overlaps))
        assert metrics.decode_seconds == pytest.approx(sum(one.seconds for one in part))
