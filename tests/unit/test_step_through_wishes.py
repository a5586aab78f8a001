"""What a page may ask the models for: nothing that it sends is believed."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from specdec.models.pairs import DEFAULT_PAIR
from specdec.recording import decode
from specdec.settings import BadInput, Settings
from specdec.trace.session import MAX_RUNS, Session
from visualizations.components.settings_form import form_values
from visualizations.serving.inputs import PairChoice
from visualizations.serving.shelf import ModelShelf
from visualizations.step_through.examples import examples
from visualizations.step_through.kept_run import kept, kept_example
from visualizations.step_through.live_run import shown_steps
from visualizations.step_through.sessions import opened_session, saved_session
from visualizations.step_through.wishes import read_wish

NO_UNTIL = (False, False, None, None, "")
FORM = form_values(Settings(chat=False, max_new_tokens=16, gamma=2, seed=3), PairChoice(DEFAULT_PAIR))
VALUES = (*NO_UNTIL, *FORM)


@pytest.fixture(scope="module")
def tables(table_pair):
    laws = np.random.default_rng(5)
    pair = table_pair(*(laws.dirichlet(np.full(8, 0.8), 8).tolist() for _ in range(2)))
    object.__setattr__(pair.info, "name", DEFAULT_PAIR)
    return pair


@pytest.fixture(scope="module")
def trace(tables):
    return decode(tables, "t0 t1", chat=False, gamma=3, seed=1, max_new_tokens=20)


def shown(tables, asked):
    return list(shown_steps(ModelShelf(lambda choice, note: tables), asked, threading.Event()))


def branch_wish(trace, **changed):
    wish = {"wish": "branch", "run": "parent", "kept": kept(trace, "parent"), "at": 0, "change": {"kind": "replay", "value": None}}
    return wish | changed


def test_a_new_run_takes_prompt_and_form(tables):
    *_, last = shown(tables, read_wish({}, "t0 t1", VALUES))
    assert last.run.record.trace().output == decode(tables, "t0 t1", chat=False, max_new_tokens=16, gamma=2, seed=3).output


def test_a_branch_takes_the_parents_settings_or_the_forms(tables, trace):
    *_, last = shown(tables, read_wish(branch_wish(trace), None, VALUES))
    assert last.run.record.trace().output == trace.output
    assert last.view["run"] != "parent" and last.run.since(0)["origin"] == {"parent": "parent", "at": 0, "kind": "replay", "value": None}
    *_, last = shown(tables, read_wish(branch_wish(trace, with_form=True), None, VALUES))
    assert last.run.record.trace().settings.gamma == 2


def test_a_paused_run_goes_on_under_its_own_name(tables, trace):
    until = (True, False, None, None, "")
    *_, paused = shown(tables, read_wish({}, "t0 t1", (*until, *FORM)))
    assert paused.view["paused"] == {"round": 0, "place": 0} and not paused.run.running and len(paused.run) == 1
    held = kept(paused.run.record.trace(), paused.run.run)
    *_, next_ = shown(tables, read_wish({"wish": "continue", "run": paused.run.run, "kept": held, "one_round": True}, None, VALUES))
    assert next_.view["first"] == 1 and len(next_.run) == 2 and next_.run.run == paused.run.run
    held = kept(next_.run.record.trace(), paused.run.run)
    *_, last = shown(tables, read_wish({"wish": "continue", "run": paused.run.run, "kept": held}, None, VALUES))
    whole = decode(tables, "t0 t1", chat=False, max_new_tokens=16, gamma=2, seed=3)
    assert last.run.record.trace().output == whole.output and last.view["paused"] is None


@pytest.mark.parametrize(
    "changed",
    [
        {"kept": None}, {"kept": {"trace": "{}"}}, {"kept": {"missing": "none"}}, {"kept": []}, {"at": None}, {"at": 0.5},
        {"at": "0"}, {"change": None}, {"change": {"kind": "else", "value": None}}, {"change": {"kind": "coin", "value": float("nan")}},
        {"change": {"kind": "coin", "value": "x" * 10**6}}, {"run": None}, {"run": "x" * 65},
    ],
    ids=lambda changed: str(changed)[:40],
)  # fmt: skip
def test_a_branch_that_makes_no_sense_is_refused_in_a_sentence(trace, changed):
    with pytest.raises(BadInput) as refusal:
        read_wish(branch_wish(trace, **changed), None, VALUES)
    assert len(str(refusal.value)) < 300 and "\n" not in str(refusal.value)


@pytest.mark.parametrize("changed", [{"at": -1}, {"at": 10**9}, {"change": {"kind": "coin", "value": 2.0}}, {"change": {"kind": "forced", "value": 8}}], ids=str)  # fmt: skip
def test_a_place_or_value_that_the_run_has_not_ends_in_a_sentence_and_leaves_the_view(tables, trace, changed):
    *_, last = shown(tables, read_wish(branch_wish(trace, **changed), None, VALUES))
    assert last.line["mood"] == "fault" and last.view is None and last.run is None


def test_a_run_that_is_over_cannot_be_continued(trace):
    with pytest.raises(BadInput, match="own end"):
        read_wish({"wish": "continue", "run": "parent", "kept": kept(trace, "parent")}, None, VALUES)


def test_a_session_keeps_names_and_tree_and_gives_new_names_to_the_page(trace):
    runs = [
        {"run": "a", "name": "first", "kept": kept_example(examples()[0])},
        {"run": "b", "name": "x" * 500, "kept": kept(trace, "b")},
        {"run": "c", "name": "again", "kept": kept(trace, "c"), "origin": {"parent": "b", "at": 2, "kind": "coin", "value": 0.5}},
        {"run": "d", "name": "orphan", "kept": kept(trace, "d"), "origin": {"parent": "gone", "at": 2, "kind": "coin", "value": 0.5}},
    ]
    file = saved_session({"runs": runs})["text"].encode()
    session = Session.from_json(file)
    assert [run.origin and run.origin.parent for run in session.runs] == [None, None, 1, None]
    view, held, first = opened_session(file)
    names = [one["run"] for one in view["session"]]
    assert len(set(names)) == 4 and not set(names) & set("abcd") and [one["run"] for one in held["session"]] == names
    assert view["session"][2]["origin"] == {"parent": names[1], "at": 2, "kind": "coin", "value": 0.5} and first == session.runs[0].trace


@pytest.mark.parametrize("asked", [None, [], {}, {"runs": []}, {"runs": [1]}, {"runs": [{}] * (MAX_RUNS + 1)}, {"runs": [{"run": "a", "name": "a"}]}, {"runs": [{"run": "a", "name": "\ud800", "kept": kept_example(examples()[0])}]}], ids=lambda asked: ascii(asked)[:30])  # fmt: skip
def test_a_session_that_the_page_cannot_have_is_refused_in_a_sentence(asked):
    with pytest.raises(BadInput):
        saved_session(asked)
