"""Which answers the load test takes for a visitor's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specdec.recording import decode, steps
from specdec.settings import Settings
from specdec.trace.growing import GrowingTrace
from specdec.trace.trace import Trace
from visualizations.load_test.client import Visit
from visualizations.load_test.judging import Parting, judge
from visualizations.load_test.visitors import Visitor, crowd, prompt_of

LAW, OTHER_LAW = [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]
SEEDS = (3, 4)


@pytest.fixture(scope="module")
def own(table_pair) -> Trace:
    return decode(table_pair(LAW, OTHER_LAW), "t0 t1", settings(temperature=1))


def settings(**values: object) -> Settings:
    return Settings.checked(**{"chat": False, "max_new_tokens": 12, "seed": SEEDS[0]} | values)


def visit(trace: Trace, **values: object) -> Visit:
    return Visit(Visitor(0, "t0 t1", trace.settings.temperature, SEEDS[0], 12), 200, 0.1, 0.2, trace.to_json(), trace.output.text, **values)


def test_the_run_that_was_asked_for(own):
    assert judge(visit(own), {}).outcome == "answered"


@pytest.mark.parametrize(
    "changed",
    [{"prompt": "t1 t0"}, {"seed": SEEDS[1]}, {"temperature": 0.0}, {"tokens": 13}],
    ids=lambda changed: next(iter(changed)),
)
def test_a_run_that_somebody_else_asked_for(own, changed):
    mine = visit(own)
    assert judge(replace(mine, visitor=replace(mine.visitor, **changed)), {}).outcome == "wrong"


def test_a_run_that_took_its_random_numbers_from_another(table_pair):
    """It says the visitor's seed, and all else of it fits; only the numbers are another's."""
    others = decode(table_pair(LAW, OTHER_LAW), "t0 t1", settings(temperature=1, seed=SEEDS[1]))
    disguised = replace(others, seed=SEEDS[0], settings=others.settings.changed(seed=SEEDS[0]))
    verdict = judge(visit(disguised), {})
    assert (verdict.outcome, verdict.why) == ("wrong", "its random numbers are not those of its seed")


def test_a_view_that_showed_something_else(own):
    assert judge(replace(visit(own), text=own.output.text[1:]), {}).outcome == "wrong"
    assert judge(visit(own, fault="rounds 2 to 3 never came"), {}).outcome == "wrong"


def test_a_trace_that_contradicts_itself(own):
    broken = replace(own, output=replace(own.output, ids=own.output.ids[::-1] + (0,)))
    assert judge(visit(broken), {}).outcome == "wrong"


def test_who_got_no_run(own):
    nothing = replace(visit(own), trace=None, text="", total=None)
    assert judge(replace(nothing, status=503, words="Queue is full."), {}).outcome == "refused"
    assert judge(replace(nothing, words="Too many wait."), {}).outcome == "refused"
    assert judge(replace(nothing, fault="no end within 300 s"), {}).outcome == "lost"
    assert judge(replace(nothing, text="t1"), {}).outcome == "lost"
    assert judge(replace(nothing, closed=True), {}).outcome == "closed"


def test_a_run_that_was_broken_off(table_pair):
    parts = steps(table_pair(LAW, OTHER_LAW), "t0 t1", settings(temperature=1))
    run = GrowingTrace(next(parts))
    run.add(next(parts))
    assert judge(visit(run.trace()), {}).outcome == "lost"


def test_a_greedy_text_is_held_against_the_one_alone(table_pair):
    """A chain whose third token is another: the parting names the position before it, and both tokens."""
    same, other = ([[0, 1, 0], [0, 0, 1], last] for last in ([1, 0, 0], [0, 1, 0]))
    now, alone = (decode(table_pair(chain), "t0", settings(temperature=0, gamma=0)) for chain in (same, other))
    mine = replace(visit(now), visitor=Visitor(0, "t0", 0.0, SEEDS[0], 12))
    assert judge(mine, {0: now}).outcome == judge(mine, {}).outcome == "answered"
    verdict = judge(mine, {0: alone})
    assert verdict.outcome == "wrong" and verdict.parting == Parting(alone, before=1, ids=(0, 1))


def test_a_crowd_in_which_no_two_are_alike():
    waves = [crowd(600, tokens=8, wave=wave, within=5, closing=0.3) for wave in (1, 2)]
    assert len({one.prompt for one in waves[0]}) == 600
    assert len({one.seed for wave in waves for one in wave}) == 1200
    assert [one.prompt for one in waves[0]] == [one.prompt for one in waves[1]] == [prompt_of(n) for n in range(600)]
    assert all(sum(one.leaves is not None for one in wave) == 180 for wave in waves)
    assert all(0 <= one.arrives <= 5 and (one.leaves is None or one.leaves > 0) for wave in waves for one in wave)
    assert {one.temperature for one in waves[0]} == {0.0, 1.0}
    assert len({len(one.prompt) // 50 for one in waves[0]}) > 3
