"""The command that measures what the page costs, on a short run."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from visualizations.step_through.speed import ROOT, Way


def test_it_prints_all_three_ways_and_keeps_the_numbers(browser, default_pair, tmp_path):
    asked = ["--tokens", "4", "--gamma", "2", "--json", str(tmp_path / "speed.json")]
    command = [sys.executable, "-m", "visualizations.page_speed", *asked]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert told.startswith("4 tokens") and all(name in told for name in ("engine", "api", "page"))
    (kept,) = json.loads((tmp_path / "speed.json").read_text())
    assert kept["tokens"] == 4 and kept["rounds"] >= 2
    assert all(kept[name] > 0 for name in ("engine", "api", "page"))
    assert set(kept["quarters"]) == {"engine", "api", "page"}


def test_quarters_are_seconds_a_round():
    even = Way(8.0, tuple(float(at) for at in range(1, 9)))
    assert even.quarters() == pytest.approx((1, 1))
    slower = Way(9.0, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5, 9.0))
    assert slower.quarters() == pytest.approx((1, 1.5))
