"""Other work on the machine: counted apart from one's own, and named by the verdict instead of the draft."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from specdec.timing import beside
from specdec.timing.beside import BUSY_CORES, OtherWork
from specdec.timing.comparison import Comparison
from specdec.timing.records import from_json
from specdec.timing.report import comparison_text
from tests.made_timings import made_comparison
from visualizations.is_it_faster.words import verdict_text


class Times(SimpleNamespace):
    """What psutil says of the processors: an iterable of seconds with names."""

    def __iter__(self):
        return iter(vars(self).values())


@pytest.fixture
def clocks(monkeypatch):
    now = SimpleNamespace(wall=0.0, own=0.0, times=Times(user=0.0, system=0.0, idle=0.0, iowait=0.0, guest=0.0))
    monkeypatch.setattr(beside.time, "perf_counter", lambda: now.wall)
    monkeypatch.setattr(beside.time, "process_time", lambda: now.own)
    monkeypatch.setattr(beside.psutil, "cpu_times", lambda: now.times)
    return now


def test_what_others_took_is_all_work_less_ones_own(clocks):
    work = OtherWork()
    clocks.wall, clocks.own = 10.0, 9.0
    clocks.times = Times(user=20.0, system=4.0, idle=90.0, iowait=7.0, guest=5.0)  # guest is part of user
    assert work.cores() == pytest.approx((24.0 - 9.0) / 10.0)


def test_a_quiet_machine_has_none(clocks):
    work = OtherWork()
    clocks.wall, clocks.own, clocks.times = 10.0, 10.1, Times(user=10.0, system=0.0, idle=10.0, iowait=0.0, guest=0.0)
    assert work.cores() == 0.0, "clocks of two kinds may disagree a little"


def test_a_real_process_beside_is_seen():
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.3)
        work = OtherWork()
        time.sleep(1.0)
        assert work.cores() > BUSY_CORES
    finally:
        busy.kill()
        busy.wait()


def slow_beside(work: float | None) -> Comparison:
    comparison = made_comparison()
    verdict = replace(
        comparison.results[0].verdict, key="slower", because="busy" if work else "cost_ratio", other_work=work
    )
    return replace(comparison, results=(replace(comparison.results[0], verdict=verdict), *comparison.results[1:]))


def test_the_verdict_names_the_other_work_and_does_not_blame_the_draft():
    result = slow_beside(1.8).results[0]
    said = verdict_text(result.verdict, replace(result.speedup, n=20, low=0.7, high=0.9))
    assert "1.8 cores" in said and "drafting costs more" not in said
    assert "BUSY: other programs took 1.8 of" in comparison_text(slow_beside(1.8))


def test_without_other_work_the_draft_is_named():
    result = slow_beside(None).results[0]
    said = verdict_text(result.verdict, replace(result.speedup, n=20, low=0.7, high=0.9))
    assert "drafting costs more" in said and "cores" not in said
    assert "BUSY" not in comparison_text(slow_beside(None))


def test_the_record_keeps_it_and_older_records_still_open():
    record = slow_beside(1.8)
    assert from_json(Comparison, record.to_json()) == record
    older = record.to_json().replace(',"other_work":1.8', "").replace(',"other_work":null', "")
    assert "other_work" not in older and from_json(Comparison, older).results[0].verdict.other_work is None
