"""Sessions: a tree of runs in one file, which is believed in nothing."""

from __future__ import annotations

import json

import pytest

from specdec.settings import BadInput
from specdec.trace.session import MAX_NAME, MAX_RUNS, Change, Origin, Session, SessionRun, check_session
from visualizations.step_through.examples import examples, recorded_trace

TRACE = recorded_trace(examples()[0])
TREE = Session(
    "specdec-session/1",
    (
        SessionRun("the first", TRACE),
        SessionRun("coin 0.31 at 2", TRACE, Origin(0, 2, Change("coin", 0.31))),
        SessionRun("<b>日本</b> ${x}", TRACE, Origin(1, 0, Change("forced", 5))),
    ),
)


def edited(**values: object) -> str:
    """The tree as JSON with other values for its last run."""
    plain = json.loads(TREE.to_json())
    plain["runs"][-1] |= values
    return json.dumps(plain)


def test_a_tree_is_read_back_as_it_was_written():
    assert Session.from_json(TREE.to_json()) == TREE
    assert json.loads(TREE.to_json())["runs"][0]["trace"] == TRACE.to_dict()


def test_every_trace_in_it_is_checked():
    plain = json.loads(TREE.to_json())
    plain["runs"][1]["trace"]["output"]["text"] += "x"
    with pytest.raises(BadInput, match="different texts"):
        Session.from_json(json.dumps(plain))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"name": ""}, "no name"), ({"name": "x" * (MAX_NAME + 1)}, "no name"), ({"name": 3}, "string"),
        ({"origin": {"parent": 2, "at": 0, "change": {}}}, "not before it"),
        ({"origin": {"parent": -1, "at": 0, "change": {}}}, "not before it"),
        ({"origin": {"parent": 0, "at": 10**6, "change": {}}}, "position 1000000"),
        ({"origin": {"parent": 0, "at": 0, "change": {"kind": "else"}}}, "change.kind"),
        ({"more": 1}, "unknown"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_tree_is_refused_in_a_sentence(values, told):
    with pytest.raises(BadInput, match=told) as refusal:
        Session.from_json(edited(**values))
    assert "\n" not in str(refusal.value)


def test_an_empty_session_and_one_of_too_many_runs_are_refused():
    for runs in ((), (SessionRun("a", TRACE),) * (MAX_RUNS + 1)):
        with pytest.raises(BadInput, match=f"1 to {MAX_RUNS}"):
            check_session(Session("specdec-session/1", runs))
    with pytest.raises(BadInput, match="specdec-session/1"):
        Session.from_json(TRACE.to_json())
