"""Turns at the machine: who shares a pass, who goes first, and that nobody waits for ever."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from specdec.models.batched import turns as module
from specdec.models.batched.turns import Request, Turns

LONG = 60.0  # seconds that no test should take; a thread that waits longer has been forgotten


class Passes:
    """Passes that only write down whose they were; one waits until `open` is set. A work of "bad" is a fault."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.seen: list[tuple[str, list[object]]] = []
        self.open = threading.Event()
        self.open.set()
        self.inside = 0

    def compute(self, requests: Sequence[Request]) -> None:
        self.inside += 1
        assert self.inside == 1, "two passes at once"
        self.seen.append((requests[0].network, [request.run for request in requests]))
        assert self.open.wait(LONG)
        self.inside -= 1
        for request in requests:
            if request.work == "bad":
                request.error = ValueError(f"bad input of {request.run}")
            else:
                request.result = (request.run, request.work)

    def ask(self, run: object, network: str = "target", work: object = 0, *, compute=None, **kind: object) -> object:
        cost = {"draft": 1, "target": 9}[network]
        return self.turns.take(Request(run, network, cost, compute or self.compute, work, **kind))

    def waiting(self) -> int:
        return len(self.turns._waiting)


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < end
        time.sleep(0.001)


class Threads:
    """Threads whose faults are raised where they are joined."""

    def __init__(self) -> None:
        self.faults: list[BaseException] = []
        self.threads: list[threading.Thread] = []

    def start(self, work: Callable[..., object], *args: object, **named: object) -> None:
        def kept() -> None:
            try:
                work(*args, **named)
            except BaseException as fault:
                self.faults.append(fault)

        self.threads.append(threading.Thread(target=kept, daemon=True))
        self.threads[-1].start()

    def join(self) -> None:
        for thread in self.threads:
            thread.join(LONG)
        assert not any(thread.is_alive() for thread in self.threads), "a thread waits for ever"


@pytest.fixture
def passes() -> Passes:
    return Passes()


@pytest.fixture
def threads() -> Threads:
    return Threads()


def behind_a_pass(passes: Passes, threads: Threads, *asked: dict) -> None:
    """While the first run's only pass computes, the requests `asked` come in, one after another; then all goes on."""
    passes.open.clear()
    threads.start(passes.ask, "first")
    until(lambda: passes.inside == 1)
    for count, request in enumerate(asked, 1):
        threads.start(passes.ask, **request)
        until(lambda: passes.waiting() == count)
    passes.open.set()
    passes.turns.leave("first")
    threads.join()


def test_a_run_by_itself_computes_at_once(passes):
    assert [passes.ask("a", work=n) for n in range(3)] == [("a", 0), ("a", 1), ("a", 2)]
    assert passes.seen == [("target", ["a"])] * 3


def test_what_comes_in_during_a_pass_shares_the_next_and_each_gets_its_own(passes, threads):
    got = []
    keep = lambda run: got.append((run, passes.ask(run, work=run * 10)))  # noqa: E731
    passes.open.clear()
    threads.start(passes.ask, 0)
    until(lambda: passes.inside == 1)
    for run in (1, 2, 3):
        threads.start(keep, run)
    until(lambda: passes.waiting() == 3)
    passes.open.set()
    threads.join()
    assert [sorted(runs) for _, runs in passes.seen] == [[0], [1, 2, 3]]
    assert sorted(got) == [(run, (run, run * 10)) for run in (1, 2, 3)]


def test_drafting_goes_before_scoring(passes, threads):
    behind_a_pass(passes, threads, dict(run=1), dict(run=2, network="draft"), dict(run=3), dict(run=4, network="draft"))
    assert [(network, sorted(runs)) for network, runs in passes.seen[1:]] == [("draft", [2, 4]), ("target", [1, 3])]


def test_no_more_share_a_pass_than_fit_it_and_one_always_does(passes, threads):
    sizes = [dict(run=run, size=size) for run, size in enumerate((500, 12, 1, 9000, 4, 508), 1)]
    behind_a_pass(passes, threads, *sizes)
    assert [runs for _, runs in passes.seen[1:]] == [[1, 2], [3], [4], [5, 6]]


def test_pieces_of_a_prompt_take_turns_with_the_others_passes(passes, threads):
    read = [dict(run=run, alone=True) for run in (1, 2)]
    behind_a_pass(passes, threads, *read, dict(run=3), dict(run=4))
    assert [sorted(runs) for _, runs in passes.seen[1:]] == [[1], [3, 4], [2]]


def test_a_pass_waits_for_those_who_are_on_their_way(passes, threads, monkeypatch):
    monkeypatch.setattr(module, "LEAST_PATIENCE", LONG)
    monkeypatch.setattr(module, "MOST_PATIENCE", LONG)
    behind_a_pass(passes, threads, dict(run=0), dict(run=1))  # both are on their way from now on, and patience has no end
    threads.start(passes.ask, 1)
    until(lambda: passes.waiting() == 1)
    time.sleep(0.05)
    assert len(passes.seen) == 2, "the pass began without the run that was on its way"
    threads.start(passes.ask, 0)
    threads.join()
    assert sorted(passes.seen[-1][1]) == [0, 1]


def test_whoever_stays_away_holds_the_others_up_only_once(passes, threads):
    behind_a_pass(passes, threads, dict(run=0), dict(run=1))
    passes.ask(1)  # run 0 is waited for, in vain
    passes.turns._patience = LONG
    passes.ask(1)  # at once, or this test would take a minute
    assert passes.seen[-2:] == [("target", [1]), ("target", [1])]


def test_a_run_that_left_is_not_waited_for(passes, threads):
    behind_a_pass(passes, threads, dict(run=0), dict(run=1))
    passes.turns._patience = LONG
    threads.start(passes.ask, 1)
    until(lambda: passes.waiting() == 1)
    passes.turns.leave(0)
    threads.join()
    assert passes.seen[-1] == ("target", [1])


def test_leaving_ends_what_the_run_still_waits_for(passes, threads):
    passes.open.clear()
    threads.start(passes.ask, 0)
    until(lambda: passes.inside == 1)
    threads.start(passes.ask, 1)
    until(lambda: passes.waiting() == 1)
    passes.turns.leave(1)
    passes.open.set()
    threads.join()
    assert [str(fault) for fault in threads.faults] == ["The run that asked has ended."]
    assert passes.seen == [("target", [0])]


def test_leaving_waits_for_the_pass_that_works_for_the_run(passes, threads):
    passes.open.clear()
    threads.start(passes.ask, 0)
    until(lambda: passes.inside == 1)
    left = threading.Event()
    threads.start(lambda: (passes.turns.leave(0), left.set()))
    assert not left.wait(0.05)
    passes.open.set()
    threads.join()
    assert left.is_set()


def test_whoever_ran_a_pass_that_was_broken_off_leaves_the_others_to_another(passes, threads):
    def broken(requests: Sequence[Request]) -> None:
        raise KeyboardInterrupt

    passes.open.clear()
    threads.start(passes.ask, 0)
    until(lambda: passes.inside == 1)
    threads.start(passes.ask, 1, compute=broken)
    until(lambda: passes.waiting() == 1)
    for run in (2, 3):
        threads.start(passes.ask, run)
    until(lambda: passes.waiting() == 3)
    passes.open.set()
    threads.join()
    assert [type(fault) for fault in threads.faults] == [KeyboardInterrupt]
    assert sorted(run for _, runs in passes.seen for run in runs) == [0, 2, 3]


def test_runs_that_come_go_pause_and_fail_at_random_all_get_through(passes, threads):
    got: dict[int, int] = {}
    faults: list[str] = []

    def live(run: int) -> None:
        chance = random.Random(run)
        for number in range(chance.randint(5, 30)):
            kind = dict(network=chance.choice(["draft", "draft", "target"]), alone=chance.random() < 0.1)
            if chance.random() < 0.05:
                time.sleep(chance.random() * 0.02)
            if chance.random() < 0.05:
                with pytest.raises(ValueError, match=f"bad input of {run}$"):
                    passes.ask(run, work="bad", **kind)
                faults.append("bad")
            assert passes.ask(run, work=number, **kind) == (run, number)
            got[run] = number + 1
        passes.turns.leave(run)

    for run in range(24):
        threads.start(live, run)
    threads.join()
    assert threads.faults == [] and faults
    assert got == {run: random.Random(run).randint(5, 30) for run in range(24)}
    assert not passes.turns._waiting and not passes.turns._awake and not passes.turns._on_their_way
    assert max(len(runs) for _, runs in passes.seen) > 1, "no pass was shared"
