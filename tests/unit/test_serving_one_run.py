"""The runs of visitors: one for each that waits or is under way, and an end at its visitor's wish."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import gradio as gr
import pytest

from visualizations.serving import stopping
from visualizations.serving.stopping import OpenRuns


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> OpenRuns:
    monkeypatch.setattr(stopping, "ENDING_SECONDS", 0.05)
    return OpenRuns()


def test_of_five_wishes_at_once_one_is_admitted(runs: OpenRuns) -> None:
    assert [runs.admit("a") for _ in range(5)] == [True, False, False, False, False]
    assert runs.admit("b"), "another visitor is no second wish"


def test_none_is_admitted_while_a_run_is_under_way_and_one_is_after_it(runs: OpenRuns) -> None:
    runs.admit("a")
    with runs.run("a"):
        assert not runs.admit("a")
    assert runs.admit("a")


def test_a_run_that_just_ends_does_not_refuse_the_next(runs: OpenRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "ENDING_SECONDS", 30)
    begun, end = threading.Event(), threading.Event()

    def last_moment() -> None:
        with runs.run("a"):
            begun.set()
            end.wait(30)

    thread = threading.Thread(target=last_moment)
    thread.start()
    begun.wait(30)
    threading.Timer(0.1, end.set).start()
    assert runs.admit("a")
    thread.join(30)


@pytest.mark.parametrize("gone", ["stop", "leave"])
def test_a_wish_that_left_the_queue_makes_room(runs: OpenRuns, gone: str) -> None:
    runs.admit("a")
    getattr(runs, gone)("a")
    assert runs.admit("a")


@pytest.mark.parametrize("act", ["admit", "stop", "leave the page"])
def test_what_runs_beside_is_ended_by_what_its_visitor_does_and_by_no_other(act: str) -> None:
    lanes = OpenRuns()
    runs = OpenRuns(beside=lanes)
    with gr.Blocks() as page:
        runs.stop_when_left(page)
    leave = next(fn.fn for fn in page.fns.values())
    acts = {"admit": runs.admit, "stop": runs.stop, "leave the page": lambda who: leave(SimpleNamespace(session_hash=who))}
    with lanes.run("a") as stop:
        acts[act]("b")
        assert not stop.is_set()
        threading.Thread(target=acts[act], args=("a",), daemon=True).start()
        assert stop.wait(10)


def test_stop_ends_the_run_and_waits_for_it(runs: OpenRuns) -> None:
    begun, ended = threading.Event(), threading.Event()

    def run() -> None:
        with runs.run("a") as stop:
            begun.set()
            stop.wait(30)
            ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    begun.wait(30)
    runs.stop("a")
    assert ended.is_set()
    thread.join(30)
