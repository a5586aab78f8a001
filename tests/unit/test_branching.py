"""Branches: what goes on from the middle of a run, with one thing changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specdec.branching import branch, resume
from specdec.recording import decode
from specdec.settings import BadInput
from specdec.trace.growing import GrowingTrace, Step
from specdec.trace.session import Change
from specdec.trace.trace import Trace

TABLES = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.6, 0.2, 0.2]], [[0.3, 0.5, 0.2], [0.3, 0.4, 0.3], [0.2, 0.4, 0.4]]


def grown(parts) -> Trace:
    run = GrowingTrace(next(parts))
    for step in parts:
        run.add(step)
    return run.trace()


def index_of(trace: Trace, round_: int, place: int = 0) -> int:
    return sum(len(r.positions) for r in trace.rounds[:round_]) + place


def verdicts(rounds) -> list:
    return [
        (p.kind, p.draft_id, p.token_id, p.draft_uniform, p.coin, p.token_uniform) for r in rounds for p in r.positions
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {}, {"gamma": 0}, {"rule": "match"}, {"rule": "block"}, {"temperature": 0.0}, {"drafter": "lookup_then_model"},
        {"drafter": "prompt_lookup"}, {"policy": "heuristic", "gamma": 8}, {"policy": "expected"},
        {"policy": "confidence"}, {"rule": "peeking"}, {"stop_strings": ["t1t2t2t0"]},
    ],
    ids=str,
)  # fmt: skip
def test_a_branch_without_a_change_repeats_its_parent_from_every_round(table_pair, settings):
    pair = table_pair(*TABLES, eos_ids=[])
    parent = decode(pair, "t0 t1", **{"chat": False, "gamma": 3, "seed": 4, "max_new_tokens": 24} | settings)
    for number in range(len(parent.rounds)):
        child = grown(branch(pair, parent, index_of(parent, number)))
        assert verdicts(child.rounds) == verdicts(parent.rounds[number:])
        assert parent.output.text.endswith(child.output.text) and child.output.stop_reason == parent.output.stop_reason
        assert Trace.from_json(child.to_json()) == child


def test_networks_repeat_it_too_and_so_does_a_branch_of_a_branch(llama_pair):
    pair = llama_pair()
    parent = decode(pair, "t0 t1", chat=False, gamma=3, seed=2, max_new_tokens=20)
    child = grown(branch(pair, parent, index_of(parent, 2)))
    assert verdicts(child.rounds) == verdicts(parent.rounds[2:])
    grandchild = grown(branch(pair, child, index_of(child, 1)))
    assert verdicts(grandchild.rounds) == verdicts(parent.rounds[3:])
    assert grandchild.resumed.written == sum(r.emitted for r in parent.rounds[:3])


def test_another_coin_turns_the_verdict_and_leaves_the_drafts(table_pair):
    pair = table_pair(*TABLES)
    parent = decode(pair, "t0", chat=False, gamma=3, seed=1, max_new_tokens=30)
    number, place, was = next(
        (r, i, p) for r, round_ in enumerate(parent.rounds) for i, p in enumerate(round_.positions) if p.kind == "replaced"
    )
    child = grown(branch(pair, parent, index_of(parent, number, place), Change("coin", was.accept_probability / 2)))
    now = child.rounds[0].positions[place]
    assert (now.kind, now.token_id, now.coin) == ("accepted", was.draft_id, was.accept_probability / 2)
    drafts = [p.draft_id for p in parent.rounds[number].positions]
    assert [p.draft_id for p in child.rounds[0].positions][: len(drafts)] == drafts
    assert child.rounds[0].accepted > parent.rounds[number].accepted
    assert Trace.from_json(child.to_json()) == child


@pytest.mark.parametrize(("uniform", "token"), [(1e-6, 0), (1 - 1e-6, 2)])
def test_other_draws_give_other_tokens(table_pair, uniform, token):
    pair = table_pair(*TABLES)
    parent = decode(pair, "t0", chat=False, gamma=2, seed=3, max_new_tokens=30)
    child = grown(branch(pair, parent, index_of(parent, 3), Change("draft", uniform)))
    assert child.rounds[0].positions[0].draft_id == token
    plain = decode(pair, "t0", chat=False, gamma=0, seed=3, max_new_tokens=9)
    assert grown(branch(pair, plain, 4, Change("token", uniform))).output.ids[0] == token


def test_a_forced_token_stands_at_the_end_of_the_text_and_the_run_goes_on(table_pair):
    pair = table_pair(*TABLES)
    parent = decode(pair, "t0", chat=False, gamma=3, seed=1, max_new_tokens=20)
    at = next(i for i, p in enumerate(parent.positions) if p.kind != "discarded" and p.output_index == 7)
    child = grown(branch(pair, parent, at, Change("forced", 1)))
    assert child.prompt.ids == (*parent.prompt.ids, *parent.output.ids[:7], 1)
    assert child.resumed.written == 8 and len(child.output.ids) == 20 - 8
    assert Trace.from_json(child.to_json()) == child


def test_other_settings_hold_from_there_on(table_pair):
    pair = table_pair(*TABLES)
    parent = decode(pair, "t0", chat=False, gamma=3, seed=1, max_new_tokens=20)
    settings = parent.settings.changed(temperature=0.0, gamma=5, max_new_tokens=10)
    child = grown(branch(pair, parent, index_of(parent, 2), settings=settings))
    assert child.settings == settings and len(child.output.ids) == 10
    assert {c.p for p in child.positions for c in p.candidates} <= {0.0, 1.0}


def test_a_stop_string_that_began_before_the_branch_ends_it(table_pair):
    pair = table_pair([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], TABLES[1])
    parent = decode(pair, "t2", chat=False, gamma=2, max_new_tokens=9)
    settings = parent.settings.changed(stop_strings=["t0t1t2"])
    at = next(i for i, p in enumerate(parent.positions) if p.kind != "discarded" and p.output_index == 1)
    child = grown(branch(pair, parent, at, Change("forced", 1), settings))
    assert (child.output.text, child.output.stop_reason) == ("t2", "stop_string")
    assert Trace.from_json(child.to_json()) == child
    whole = parent.settings.changed(stop_strings=["t0"])  # complete before the branch: it ends nothing
    assert len(grown(branch(pair, parent, at, Change("forced", 1), whole)).output.ids) == 2


@pytest.mark.parametrize(
    ("at", "change", "told"),
    [
        (-1, Change(), "position -1"), (10**6, Change(), "position 1000000"),
        (0, Change("forced", 3), "below 3"), (0, Change("forced", 0.5), "below 3"), (0, Change("forced", None), "below 3"),
        (0, Change("coin", 1.0), "between 0 and 1"), (0, Change("draft", 0.0), "between 0 and 1"),
        (0, Change("token", 1), "between 0 and 1"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_changed_is_refused_in_a_sentence(table_pair, at, change, told):
    pair = table_pair(*TABLES)
    parent = decode(pair, "t0", chat=False, max_new_tokens=12)
    with pytest.raises(BadInput, match=told):
        branch(pair, parent, at, change)


@pytest.mark.parametrize("value", [float("nan"), "x", True])
def test_a_change_is_made_of_a_number(value):
    with pytest.raises(ValueError):
        Change("coin", value)


def test_where_no_coin_was_thrown_none_is_changed_and_a_finished_text_has_no_rest(table_pair):
    pair = table_pair(*TABLES)
    runs = (decode(pair, "t0", chat=False, max_new_tokens=12, seed=seed) for seed in range(9))
    parent = next(run for run in runs if any(p.kind == "discarded" for p in run.positions))
    discarded = next(i for i, p in enumerate(parent.positions) if p.kind == "discarded")
    for change in (Change("coin", 0.5), Change("forced", 1)):
        with pytest.raises(BadInput):
            branch(pair, parent, discarded, change)
    with pytest.raises(BadInput, match="all there"):
        branch(pair, parent, max(i for i, p in enumerate(parent.positions) if p.kind != "discarded"), Change("forced", 1))


@pytest.mark.parametrize(
    "settings",
    [{}, {"gamma": 0}, {"rule": "block"}, {"policy": "heuristic", "gamma": 8}, {"policy": "expected"},
     {"drafter": "lookup_then_model"}, {"stop_strings": ["t1t2t2t0"]}],
    ids=str,
)  # fmt: skip
def test_a_run_that_was_ended_early_goes_on_as_if_it_had_not_been(table_pair, settings):
    pair = table_pair(*TABLES, eos_ids=[])
    whole = decode(pair, "t0 t1", **{"chat": False, "gamma": 3, "seed": 4, "max_new_tokens": 24} | settings)
    for rounds in range(1, len(whole.rounds)):
        ended = first_rounds(whole, rounds)
        run = grown_from(ended)
        for step in resume(pair, ended):
            run.add(step)
        joined = run.trace()
        assert verdicts(joined.rounds) == verdicts(whole.rounds) and joined.output == whole.output
        assert [r.stopped for r in joined.rounds] == [r.stopped for r in whole.rounds]
        assert Trace.from_json(joined.to_json()) == joined


def test_a_branch_that_was_ended_early_goes_on_too(table_pair):
    pair = table_pair(*TABLES)
    parent = decode(pair, "t0 t1", chat=False, gamma=3, seed=4, max_new_tokens=24)
    child = grown(branch(pair, parent, index_of(parent, 2)))
    run = grown_from(first_rounds(child, 2))
    for step in resume(pair, first_rounds(child, 2)):
        run.add(step)
    assert verdicts(run.trace().rounds) == verdicts(child.rounds)


def test_a_run_that_ended_by_itself_and_one_of_other_tokens_are_refused(table_pair, pair_of):
    pair = table_pair(*TABLES)
    whole = decode(pair, "t0 t1", chat=False, max_new_tokens=12)
    with pytest.raises(BadInput, match="own end"):
        resume(pair, whole)
    other = table_pair(*TABLES, words=["a", "b", "c"])
    smaller = table_pair([[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]])
    for stranger in (other, smaller):
        with pytest.raises(BadInput, match="does not share"):
            branch(stranger, whole, 0)
        with pytest.raises(BadInput, match="does not share"):
            resume(stranger, first_rounds(whole, 1))


def grown_from(ended: Trace) -> GrowingTrace:
    run = GrowingTrace(replace(ended, rounds=()))
    for round_ in ended.rounds:
        run.add(Step(round_, "cancelled"))
    return run


def first_rounds(whole: Trace, count: int) -> Trace:
    """The run as it is when it is ended behind so many rounds."""
    run = GrowingTrace(replace(whole, rounds=()))
    for round_ in whole.rounds[:count]:
        run.add(Step(round_, "cancelled"))
    return run.trace()
