"""Other work on the machine: how much there is while something is measured, and some to measure beside."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from specdec.settings import Settings

# Cores' worth of other work from which on a machine counts as busy: a page beside the app takes less.
BUSY_CORES = 0.3
PROMPT = "Write a long story about a lighthouse."
READY_SECONDS = 120.0
NOT_BUSY = ("idle", "iowait", "guest", "guest_nice")  # guest time is counted in user time already


class OtherWork:
    """Processor time that others took since the clock was started."""

    def __init__(self) -> None:
        self._wall, self._all, self._own = time.perf_counter(), _busy_seconds(), time.process_time()

    def cores(self) -> float:
        """Cores' worth of work that was not this process's: 0 on a quiet machine, 2 where two cores were taken."""
        wall = time.perf_counter() - self._wall
        others = _busy_seconds() - self._all - (time.process_time() - self._own)
        return max(0.0, others / wall) if wall else 0.0


def _busy_seconds() -> float:
    times = psutil.cpu_times()
    return sum(times) - sum(getattr(times, name, 0.0) for name in NOT_BUSY)


@contextmanager
def beside(count: int, pair_key: str) -> Iterator[None]:
    """`count` child processes decode in a loop meanwhile, as other copies of the app do that serve runs."""
    spawn = multiprocessing.get_context("spawn")  # a fork of a process with torch's threads in it can hang
    ready = [spawn.Event() for _ in range(count)]
    children = [spawn.Process(target=_decode_for_ever, args=(pair_key, event), daemon=True) for event in ready]
    for child in children:
        child.start()
    try:
        for event in ready:
            if not event.wait(READY_SECONDS):
                raise RuntimeError("A process that was to decode beside the measurement did not start.")
        yield
    finally:
        for child in children:
            child.terminate()
        for child in children:
            child.join()


def _decode_for_ever(pair_key: str, ready: multiprocessing.synchronize.Event) -> None:
    from specdec.models.pairs import load_pair
    from specdec.recording import run

    pair = load_pair(pair_key)
    ids = pair.encode(PROMPT, chat=True)
    for seed in range(2**32):
        for _ in run(pair, ids, Settings(seed=seed)):
            ready.set()
