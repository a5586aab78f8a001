"""Several pairs at once: downloads run side by side, models are built one by one."""

from __future__ import annotations

import threading
from typing import Any

import huggingface_hub
import pytest

from visualizations.serving import loading
from visualizations.serving.inputs import PairChoice

SLOW, QUICK = PairChoice("custom", "slow/big", "slow/small"), PairChoice("custom", "quick/big", "quick/small")


@pytest.fixture
def gate(monkeypatch) -> threading.Event:
    """Stands for the network: the slow repository comes when it is set, the quick one at once."""
    gate = threading.Event()
    monkeypatch.setattr(loading, "hub_is_reachable", lambda: True)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: name.startswith("slow") and gate.wait(10))
    return gate


def begin(choice: PairChoice, loaded: list[Any]) -> threading.Thread:
    thread = threading.Thread(target=lambda: loaded.append(loading.load_in_turn(choice, lambda progress: None)))
    thread.start()
    return thread


def test_a_slow_download_keeps_nobody_waiting(gate: threading.Event, monkeypatch) -> None:
    monkeypatch.setattr(loading.pairs, "load_models", lambda target, draft, progress: target)
    loaded: list[Any] = []
    slow = begin(SLOW, loaded)
    begin(QUICK, loaded).join(10)
    assert loaded == ["quick/big"]
    gate.set()
    slow.join(10)
    assert loaded == ["quick/big", "slow/big"]


def test_two_models_are_never_built_at_once(gate: threading.Event, monkeypatch) -> None:
    inside, together = threading.Semaphore(1), []

    def build(target: str, draft: str, progress: Any) -> str:
        together.append(not inside.acquire(blocking=False))
        threading.Event().wait(0.1)
        inside.release()
        return target

    monkeypatch.setattr(loading.pairs, "load_models", build)
    gate.set()
    threads = [begin(choice, []) for choice in (SLOW, QUICK) * 3]
    for thread in threads:
        thread.join(10)
    assert together == [False] * 6


def test_a_repository_that_cannot_be_fetched_is_left_to_the_reading(gate: threading.Event, monkeypatch) -> None:
    def refuse(name: str, **_: Any) -> None:
        raise huggingface_hub.errors.LocalEntryNotFoundError("not there")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    monkeypatch.setattr(loading.pairs, "load_models", lambda target, draft, progress: f"{target} was read")
    assert loading.load_in_turn(QUICK, lambda progress: None) == "quick/big was read"
