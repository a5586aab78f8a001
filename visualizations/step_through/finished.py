"""Runs of the examples that this process has finished: who asks for one of them again is answered without the models.

Only a run of what an example itself says is kept, its prompt and its settings, so nothing that a visitor typed is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from specdec.settings import Settings
from visualizations.serving.first_pair import startable
from visualizations.serving.inputs import CUSTOM, PairChoice
from visualizations.step_through.examples import examples
from visualizations.step_through.run_view import ShownRun

MOST_KEPT = 32


@dataclass(frozen=True)
class Canned:
    """An example with its settings unchanged, on a pair of the catalogue. example, pair: their keys."""

    example: str
    pair: str


def canned(choice: PairChoice, prompt: str, settings: Settings) -> Canned | None:
    """The example that a run is, None where it is none or differs from it in anything but the pair."""
    if choice.key == CUSTOM:
        return None
    same = (
        example.key
        for example in examples()
        if prompt == example.prompt and settings == startable(example.settings, choice)
    )
    key = next(same, None)
    return None if key is None else Canned(key, choice.key)


@dataclass(frozen=True)
class Finished:
    """A run that is over. ended: how, as its visitor was told. seconds: since then."""

    run: ShownRun
    ended: str
    seconds: float


class FinishedRuns:
    """The newest whole run of each, in memory; the one used longest ago makes room. Any thread may ask.

    clock: seconds that never go back.
    """

    def __init__(self, most: int = MOST_KEPT, clock: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._clock = clock
        self._runs: OrderedDict[Canned, tuple[ShownRun, str, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, what: Canned | None) -> Finished | None:
        """The newest run of an example, None where there is none."""
        with self._lock:
            if what is None or what not in self._runs:
                return None
            self._runs.move_to_end(what)
            run, ended, at = self._runs[what]
            return Finished(run, ended, self._clock() - at)

    def keep(self, what: Canned | None, run: ShownRun | None, ended: str) -> None:
        """Keep a run of an example that came to its own end, in place of an earlier one; pass over any other.

        ended: how, in words.
        """
        if what is None or run is None or run.running or run.record.stop_reason == "cancelled":
            return
        with self._lock:
            self._runs[what] = run, ended, self._clock()
            self._runs.move_to_end(what)
            while len(self._runs) > self._most:
                self._runs.popitem(last=False)
