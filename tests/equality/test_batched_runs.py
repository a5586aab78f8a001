"""Many runs at once on one pair write the texts that each writes alone; planted faults don't go unseen."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import pytest

from specdec.decoding.loop import Round
from specdec.models.batched import SharedPair, packed, share, slot_model
from specdec.recording import run
from specdec.settings import Settings

LONG = 120.0
Job = tuple[list[int], Settings, int | None]


def jobs(count: int, seed: int) -> list[Job]:
    """Prompts and settings of all kinds; some runs are left in their middle."""
    chance = random.Random(seed)
    return [
        (
            [chance.randrange(64) for _ in range(chance.choice([1, 3, 12, 40]))],
            Settings(
                seed=index,
                gamma=chance.choice([0, 1, 3, 6]),
                rule=chance.choice(["token", "match", "block"]),
                drafter=chance.choice(["model", "model", "lookup_then_model"]),
                max_new_tokens=chance.randint(4, 14),
            ),
            chance.choice([None, None, 2]),
        )
        for index in range(count)
    ]


def rounds_of(pair, job: Job) -> Iterator[Round]:
    prompt, settings, rounds = job
    return islice(run(pair, prompt, settings), rounds)


def written(pair, job: Job) -> list[int]:
    return [token for round_ in rounds_of(pair, job) for token in round_.emitted]


def at_once(shared: SharedPair, made: list[Job]) -> tuple[list[list[int] | Exception], list[int]]:
    """Each job's text, as many jobs at a time as there are slots; and how many shared each pass of the target."""
    texts: list[list[int] | Exception] = [[] for _ in made]
    sharing: list[int] = []
    left = iter(range(len(made)))

    def work(chance: random.Random) -> None:
        for index in left:
            time.sleep(chance.random() * 0.02)
            try:
                with shared.lend() as lent:
                    for round_ in rounds_of(lent, made[index]):
                        texts[index] += round_.emitted
                        sharing.append(lent.target.sharing)
            except Exception as fault:
                texts[index] = fault

    threads = [threading.Thread(target=work, args=(random.Random(n),), daemon=True) for n in range(shared.slots)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert not any(thread.is_alive() for thread in threads), "a run waits for ever"
    return texts, sharing


@pytest.mark.parametrize("slots", [2, 5, 16])
def test_runs_that_come_and_go_write_what_each_writes_alone(llama_pair: Callable, slots: int) -> None:
    made = jobs(2 * slots, seed=slots)
    alone = [written(llama_pair(), job) for job in made]
    texts, sharing = at_once(share(llama_pair(), slots), made)
    assert texts == alone
    assert max(sharing) > 1


def rows_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    extend = packed.extend_packed
    monkeypatch.setattr(slot_model, "extend_packed", lambda *parts: (lambda rows: [*rows[1:], rows[0]])(extend(*parts)))


def one_place_off(monkeypatch: pytest.MonkeyPatch) -> None:
    right = packed._Group.of
    shifted = lambda *parts: replace(right(*parts), mask=right(*parts).mask.roll(1, -1))  # noqa: E731
    monkeypatch.setattr(packed._Group, "of", shifted)


def stale_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts that were refused are seen by whoever goes on behind them."""
    rewind = packed.TransformersModel.rewind
    forgets = lambda model, length: rewind(model, length if length == 0 else model.length)  # noqa: E731
    monkeypatch.setattr(packed.TransformersModel, "rewind", forgets)


@pytest.mark.parametrize("fault", [rows_swapped, one_place_off, stale_slot])
def test_a_planted_fault_shows_in_the_texts(llama_pair: Callable, monkeypatch: pytest.MonkeyPatch, fault: Callable) -> None:
    made = [(prompt, replace(settings, gamma=3, max_new_tokens=12), None) for prompt, settings, _ in jobs(6, seed=1)]
    alone = [written(llama_pair(), job) for job in made]
    shared = share(llama_pair(), 6)
    fault(monkeypatch)
    texts, _ = at_once(shared, made)
    assert texts != alone
