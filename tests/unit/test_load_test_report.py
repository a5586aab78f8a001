"""What the load test says of what it found, with faults that were planted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from visualizations.load_test.client import Read, Visit
from visualizations.load_test.course import Answer, Measured, Plan
from visualizations.load_test.judging import Verdict
from visualizations.load_test.report import Report, times
from visualizations.load_test.server import Held, Server, loopback
from visualizations.load_test.visitors import Visitor


def answer(outcome: str, total: float | None = 1.0, near_tie: bool = False) -> Answer:
    return Answer(Visit(Visitor(0, "a prompt", 0.0, 0, 8), 200, 0.5, total), Verdict(outcome, "why"), near_tie)


def measured(*outcomes: str, **values: object) -> Measured:
    held = (Held(5, 10, 900.0), Held(5, 10, 1000.0), Held(5, 10, 1000.0))
    reads = (Read("a sign of life", 0.01, True), Read("opening the page", 0.03, True))
    answers = tuple(answer(outcome, total=float(place)) for place, outcome in enumerate(outcomes, 1))
    good = Measured(Plan(len(answers), 8, waves=1), 1, (answers,), reads, reads, held, closed=1, next_seconds=1.0)
    return replace(good, **values)


def test_a_crowd_that_was_served():
    report = Report(measured("answered", "answered", "closed"))
    assert report.faults == [] and report.line() == "2 of 2 answered, worst 2.0 s"
    assert set(report.goals.values()) == {True}
    assert json.loads(json.dumps(report.to_dict()))["counts"] == {"answered": 2, "closed": 1}
    assert "MISSED" not in report.table()


@pytest.mark.parametrize("fault", ["refused", "lost", "wrong"])
def test_one_visitor_who_was_not(fault):
    report = Report(measured("answered", fault))
    assert report.faults == [f"1 {fault}"] and report.line() == f"1 of 2 answered, worst 1.0 s, 1 {fault}"
    assert f"{fault}, why" in report.table()


def test_nobody_was():
    assert Report(measured("refused")).line() == "0 of 1 answered, 1 refused"


def test_what_else_must_not_be():
    assert Report(measured("answered", next_seconds=None)).faults == ["no answer after closed tabs"]
    failed = measured("answered", loaded=(Read("opening the page", 0.1, False),))
    assert Report(failed).faults == ["1 of the page's own requests failed"]


def test_a_near_tie_is_told_and_no_fault():
    report = Report(measured("answered", waves=((answer("answered", near_tie=True),),)))
    assert report.near_ties == 1 and report.faults == []


@pytest.mark.parametrize(
    "goal, values",
    [
        ("last answer", {"waves": ((answer("answered", total=46.0),),)}),
        ("page's own", {"loaded": (Read("opening the page", 0.3, True),)}),
        ("next run", {"next_seconds": 11.0}),
        ("memory", {"held": (Held(5, 10, 900.0), Held(5, 10, 1000.0), Held(5, 10, 1051.0))}),
        ("no thread", {"held": (Held(5, 10, 900.0), Held(5, 10, 1000.0), Held(6, 10, 1000.0))}),
        ("no thread", {"held": (Held(5, 10, 900.0), Held(5, 10, 1000.0), Held(4, 11, 1000.0))}),
    ],
)
def test_a_goal_that_is_missed(goal, values):
    goals = Report(measured("answered", **values)).goals
    assert [name for name, met in goals.items() if not met] == [next(name for name in goals if name.startswith(goal))]


def test_what_is_unknown_is_no_goal_met():
    goals = Report(measured("answered", held=(None, None, None))).goals
    assert [met for name, met in goals.items() if name.startswith(("memory", "no thread"))] == [None, None]


def test_times():
    of = times([None, *map(float, range(1, 102))])
    assert (of.count, of.median, of.most, of.worst) == (101, 51.0, 96.0, 101.0)
    assert times([None]) is None


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1:7860", "http://example.com:80", "https://127.0.0.1:7860", "http://127.0.0.1", "7860",
            "http://127.0.0.1.example.com:80", "http://127.0.0.1@10.0.0.1:80"],
)  # fmt: skip
def test_it_is_no_weapon(url):
    with pytest.raises(ValueError, match="a loopback address"):
        Server(url)


def test_the_addresses_of_this_machine():
    assert [loopback(f"http://{host}:80/path") for host in ("127.0.0.1", "localhost", "[::1]")] == [
        "http://127.0.0.1:80", "http://localhost:80", "http://[::1]:80",
    ]  # fmt: skip
