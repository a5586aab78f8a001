"""Pairs whose passes take a fixed time on a clock that nothing else moves."""

from __future__ import annotations

import pytest

from specdec.decoding import loop
from specdec.models.pairs import Pair
from specdec.timing import clock, costs, race
from tests.stub_clock import SlowTable, StubClock


@pytest.fixture
def stub(monkeypatch) -> StubClock:
    stub = StubClock()
    for module in (loop, clock, costs, race):
        monkeypatch.setattr(module, "perf_counter", stub)
    return stub


@pytest.fixture
def stub_pair(pair_of, stub):
    def build(target, draft=None, *, step: float = 0.005, verify: float = 0.020, prefill: float = 0.0, **rest) -> Pair:
        small = None if draft is None else SlowTable(draft, stub, step)
        return pair_of(SlowTable(target, stub, verify, prefill), small, **rest)

    return build
