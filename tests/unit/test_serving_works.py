"""Every work of the page is plain data: it travels, and whoever receives it checks it again."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import Any

import pytest

from specdec.settings import BadInput, Settings
from specdec.trace.session import Change
from visualizations.drafting import asked
from visualizations.is_it_faster import works as timed
from visualizations.serving.backend import Work
from visualizations.serving.works import Decode
from visualizations.step_through import works as following
from visualizations.step_through.examples import examples, recorded_trace
from visualizations.why_exact.draws import DrawFromPair, Request

RUN = recorded_trace(examples()[0])
SHORT = Settings(max_new_tokens=8)
WORKS = [
    Decode("a prompt", SHORT),
    following.Branch(RUN, 0, Change(), SHORT),
    following.Resume(RUN),
    following.Plainly(RUN),
    DrawFromPair(RUN, 0, Request("token", 1_000, 0)),
    timed.RunRace("a prompt", SHORT),
    timed.Compare(("a prompt",), SHORT, 2, True),
    timed.MeasureMachine(4),
    timed.MeasureSweep(("a prompt",), SHORT, 2),
    asked.MeasurePolicies("a prompt", SHORT, 2),
    asked.MeasureDependence(("a prompt",), ("code",), SHORT),
    asked.MeasureDrafters(("a prompt",), SHORT, 2),
    asked.MeasureCosts(2),
]
WRONG: dict[str, Any] = {"prompt": "", "prompts": ("",), "settings": Settings(gamma=999), "repeats": 0, "gamma": -1}


def kinds(kind: type) -> set[type]:
    return {kind, *(below for one in kind.__subclasses__() for below in kinds(one))}


def test_none_is_forgotten_here() -> None:
    of_the_page = {kind for kind in kinds(Work) if kind.__module__.startswith("visualizations.") and kind is not Work}
    assert of_the_page == {type(work) for work in WORKS}


@pytest.mark.parametrize("work", WORKS, ids=lambda work: type(work).__name__)
def test_it_arrives_as_it_was_and_passes_its_own_check(work: Work[Any]) -> None:
    arrived = pickle.loads(pickle.dumps(work))
    assert arrived == work == arrived.checked()
    assert work.tokens >= 0 and work.seconds > 0


@pytest.mark.parametrize("work", WORKS, ids=lambda work: type(work).__name__)
def test_what_no_visitor_may_ask_for_is_refused(work: Work[Any]) -> None:
    for field in fields(work):
        if field.name in WRONG:
            with pytest.raises(BadInput):
                replace(work, **{field.name: WRONG[field.name]}).checked()
