"""Who computes when: one pass at a time, and what waits for the same network shares one.

Every run is a thread that blocks until its pass is done; the thread of the first request of a pass runs it. Nothing
here knows of models.

Runs fall into step by themselves. A pass of the cheapest network goes first, so that whoever still drafts catches up
with those who wait to have their drafts scored; and a pass is held back for those who are on their way, but only as
long as one arrives every now and then. Whoever was waited for in vain (its reader pauses, say) is waited for no more
until it comes back by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import accumulate
from time import perf_counter
from typing import Any

# A pass is held back for others at most so long after the last of them arrived: this part of what the latest dear
# pass took, within these seconds. More brings nothing on two cores, less breaks up those who are in step.
PATIENCE = 0.1
LEAST_PATIENCE, MOST_PATIENCE = 0.004, 0.03
# Sizes that share a pass, in tokens: with more it takes longer than what sharing saves.
MOST_TOGETHER = 512

Compute = Callable[[Sequence["Request"]], None]


class Request:
    """What one run waits for. compute: runs the pass of some requests of one `network` and gives each its `result`,
    which is not None, or its `error`; what it raises is the error of the request whose thread it is.

    cost: passes of a network with less go first. size: its part of a pass. alone: shares its pass with none.
    """

    def __init__(
        self, run: object, network: object, cost: int, compute: Compute, work: Any, *, size: int = 1, alone: bool = False
    ):
        self.run, self.network, self.cost, self.compute = run, network, cost, compute
        self.work, self.size, self.alone = work, size, alone
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self.leads: list[Request] = []  # the pass that its thread is to run

    @property
    def has_outcome(self) -> bool:
        return self.result is not None or self.error is not None


class Turns:
    """The machine's turns. Any thread may ask.

    Whenever the lock is free, either a thread computes, or nobody waits, or the first of those who wait is awake or
    wakes when patience ends: so no pass is forgotten.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._over = threading.Condition(self._lock)
        self._awake: dict[Request, threading.Condition] = {}
        self._waiting: list[Request] = []
        self._computed: Sequence[Request] = ()
        self._on_their_way: set[object] = set()
        self._was_alone = False
        self._patience = LEAST_PATIENCE
        self._last_arrival = 0.0

    def take(self, request: Request) -> Any:
        """Wait for the request's pass, or run it; its result. Raises its error."""
        with self._lock:
            self._awake[request] = threading.Condition(self._lock)
            self._waiting.append(request)
            self._on_their_way.discard(request.run)
            self._last_arrival = perf_counter()
            try:
                self._wait(request)
            finally:
                self._give_up(request)
                self._begin()
        if request.error is not None:
            raise request.error
        return request.result

    def leave(self, run: object) -> None:
        """Forget a run; when this returns, no pass works for it. What it still waits for ends with an error."""
        with self._lock:
            self._on_their_way.discard(run)
            for request in [one for one in self._waiting if one.run is run]:
                self._waiting.remove(request)
                request.error = RuntimeError("The run that asked has ended.")
                self._end(request)
            self._begin()
            while any(one.run is run for one in self._computed):
                self._over.wait()
            self._on_their_way.discard(run)  # where its last pass has made it so
            self._begin()

    def _wait(self, request: Request) -> None:
        while not request.done:
            self._begin(request)
            if request.leads:
                self._lead(request)
            elif not request.done:
                self._awake[request].wait(self._seconds_to_wait(request))

    def _give_up(self, request: Request) -> None:
        """Nobody waits for the request any more; where it isn't done, the waiting itself was broken off."""
        del self._awake[request]
        if request.leads:
            self._put_back(request.leads)
            request.leads = []
        if request in self._waiting:
            self._waiting.remove(request)

    def _put_back(self, chosen: Sequence[Request]) -> None:
        """A pass that was not run, or not to its end: those without an outcome wait for another."""
        self._computed = ()
        self._waiting[:0] = [one for one in chosen if not one.has_outcome]

    def _begin(self, asking: Request | None = None) -> None:
        """Where nobody computes: give the next pass to a thread of it, or see that somebody watches the clock."""
        if self._computed or not self._waiting:
            return
        chosen = self._choose()
        if chosen:
            self._waiting = [one for one in self._waiting if one not in chosen]
            self._computed = chosen
            leader = asking if asking in chosen else chosen[0]
            leader.leads = chosen
        self._wake(leader if chosen else self._waiting[0])

    def _choose(self) -> list[Request]:
        """The requests of the next pass; none while others are waited for."""
        alone = next((one for one in self._waiting if one.alone), None)
        shared = [one for one in self._waiting if not one.alone]
        if alone and not (shared and self._was_alone):  # by turns: a long prompt holds the others up by a piece of it
            return [alone]
        if self._on_their_way and perf_counter() < self._last_arrival + self._patience:
            return []
        self._on_their_way.clear()
        cheapest = min(shared, key=lambda one: one.cost)
        return _together([one for one in shared if one.network is cheapest.network])

    def _seconds_to_wait(self, request: Request) -> float | None:
        """The first of those who wait watches the clock for all, while nobody computes."""
        if self._computed or self._waiting[0] is not request:
            return None
        return max(0.0, self._last_arrival + self._patience - perf_counter())

    def _lead(self, request: Request) -> None:
        """Run the pass that was given to `request`, without the lock."""
        chosen, request.leads = request.leads, []
        self._lock.release()
        started = perf_counter()
        try:
            request.compute(chosen)
        except BaseException as fault:
            request.error = fault
        finally:
            seconds = perf_counter() - started
            self._lock.acquire()
            self._put_back(chosen)
            self._was_alone = request.alone
            if not request.alone:
                self._patience = min(MOST_PATIENCE, max(LEAST_PATIENCE, PATIENCE * seconds, 0.9 * self._patience))
            self._last_arrival = perf_counter()
            for one in chosen:
                if one.has_outcome:
                    self._on_their_way.add(one.run)
                    self._end(one)
            self._over.notify_all()

    def _end(self, request: Request) -> None:
        request.done = True
        self._wake(request)

    def _wake(self, request: Request) -> None:
        if request in self._awake:  # else its thread waits no more
            self._awake[request].notify()


def _together(requests: Sequence[Request]) -> list[Request]:
    """The first of them, as many as fit a pass; always one."""
    sizes = accumulate(request.size for request in requests)
    fitting = sum(size <= MOST_TOGETHER for size in sizes)
    return list(requests[: max(1, fitting)])
