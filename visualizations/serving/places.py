"""Who has the models, and who waits for them in which order. Pure bookkeeping: it knows no models and no visitors."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from time import monotonic

MOST_WAITING = 100
FADING = 0.98  # what older measurements weigh, once more is measured


class Full(Exception):
    """Too many wait already. seconds: about how long until one of them has its turn; None when nothing is measured."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__("Too many wait already.")
        self.seconds = seconds


@dataclass(eq=False)
class Place:
    """One piece of work, from its arrival until it leaves. Only its `Places` changes it.

    tokens: about how many it decodes. alone: it needs the machine for itself. key, room: whose models it uses, and how
    many may use them at once, known once it stands in the line. done: tokens decoded so far. shared: others have had the
    models at the same time.
    """

    number: int
    tokens: int
    alone: bool = False
    key: Hashable = None
    room: int = 1
    began: float | None = None
    counted: float = 0.0
    done: int = 0
    shared: bool = False


@dataclass(frozen=True)
class Position:
    """Where one stands that waits. place: 1 for the next. seconds: until its turn, None when nothing is measured.
    behind: whether somebody who needs the machine for themselves has it or comes before."""

    place: int
    seconds: float | None
    behind: bool


class Pace:
    """Seconds a piece, such as a token, as measured lately."""

    def __init__(self) -> None:
        self._seconds, self._pieces = 0.0, 0.0

    def measured(self, seconds: float, pieces: int) -> None:
        if pieces > 0:
            self._seconds = self._seconds * FADING + seconds
            self._pieces = self._pieces * FADING + pieces

    @property
    def value(self) -> float | None:
        return self._seconds / self._pieces if self._pieces else None


class Places:
    """At most `slots` have models at a time, of each key no more than its room; the rest stand in line by arrival.

    Whoever needs the machine alone waits until nobody has models, and nobody behind begins before. Any thread may call.
    """

    def __init__(self, slots: int, most_waiting: int = MOST_WAITING, clock: Callable[[], float] = monotonic) -> None:
        self.slots = slots
        self._most_waiting = most_waiting
        self._clock = clock
        self._changed = threading.Condition()
        self._numbers = itertools.count(1)
        self._here: set[Place] = set()  # all that have arrived and not left
        self._line: list[Place] = []
        self._held: list[Place] = []
        self._reading, self._pace, self._pace_alone = Pace(), Pace(), Pace()

    def arrive(self, tokens: int, alone: bool = False) -> Place:
        """A place by arrival, whose models may still have to be loaded. Raises `Full`."""
        with self._changed:
            if len(self._here) - len(self._held) >= self._most_waiting:
                raise Full(self._until_turn(self._line[0]) if self._line else None)
            place = Place(next(self._numbers), tokens, alone)
            self._here.add(place)
            return place

    def enter(self, place: Place, key: Hashable, room: int) -> None:
        """Join the line, before all who arrived later. key, room: as of a `Place`."""
        with self._changed:
            place.key, place.room = key, room
            self._line.append(place)
            self._line.sort(key=lambda one: one.number)
            self._admit()

    def wait(self, place: Place, seconds: float) -> bool:
        """Whether its turn has come, after at most `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: place.began is not None, seconds)

    def leave(self, place: Place) -> None:
        """Out of the line, or its models are free."""
        with self._changed:
            self._here.discard(place)
            for group in (self._line, self._held):
                if place in group:
                    group.remove(place)
            self._admit()

    def take_idle(self) -> Place | None:
        """The whole machine, if nobody is here; else None."""
        with self._changed:
            if self._here:
                return None
            place = Place(next(self._numbers), 0, alone=True)
            self._here.add(place)
            self._line.append(place)
            self._admit()
            return place

    def others_than(self, place: Place) -> bool:
        """Whether anybody else is here."""
        return len(self._here) > 1 or place not in self._here

    def decoded(self, place: Place, tokens: int) -> None:
        """So many more tokens of it are there. How long they took is measured while somebody waits, since then as many share
        the machine as will; until the first of them its prompt was read, which says nothing of the others."""
        with self._changed:
            now = self._clock()
            if self._line:
                pace, pieces = (self._pace, tokens) if place.done else (self._reading, 1)
                pace.measured(now - place.counted, pieces)
            place.counted, place.done = now, place.done + tokens

    def finished(self, place: Place) -> None:
        """It has come to its end: what it took tells how long the next of its kind will take."""
        with self._changed:
            if place.alone and place.began is not None:
                self._pace_alone.measured(self._clock() - place.began, place.tokens)

    def position(self, place: Place) -> Position | None:
        """Where it stands in the line; None when it has models, or is not in the line."""
        with self._changed:
            if place not in self._line:
                return None
            index = self._line.index(place)
            behind = any(one.alone for one in (*self._held, *self._line[:index]))
            return Position(index + 1, self._until_turn(place), behind)

    def _admit(self) -> None:
        for place in list(self._line):
            alone = any(one.alone for one in self._held)
            if alone or len(self._held) >= self.slots or (place.alone and self._held):
                break
            if sum(one.key == place.key for one in self._held) < place.room:
                self._line.remove(place)
                self._held.append(place)
                place.began = place.counted = self._clock()
                for one in self._held if len(self._held) > 1 else ():
                    one.shared = True
        self._changed.notify_all()

    def _until_turn(self, place: Place) -> float | None:
        """Each before it takes the slot that is free first, for as long as its tokens take."""
        if self._pace.value is None and self._pace_alone.value is None:
            return None
        slots = min(self.slots, place.room)
        free_at = sorted((self._left(one) for one in self._held), reverse=True)[:slots]
        idle = free_at[0] if any(one.alone for one in self._held) else 0.0
        free_at = [idle] * (slots - len(free_at)) + free_at[::-1]
        for one in self._line[: self._line.index(place)]:
            if one.alone:
                free_at = [max(free_at) + self._takes(one)] * slots
            else:
                heapq.heapreplace(free_at, free_at[0] + self._takes(one))
        return max(free_at) if place.alone else free_at[0]

    def _left(self, place: Place) -> float:
        if place.done:
            return max(0, place.tokens - place.done) * self._seconds_each(place)
        return max(0.0, self._takes(place) - (self._clock() - (place.began or 0.0)))

    def _takes(self, place: Place) -> float:
        reading = 0.0 if place.alone else self._reading.value or 0.0
        return reading + place.tokens * self._seconds_each(place)

    def _seconds_each(self, place: Place) -> float:
        first, second = (self._pace_alone, self._pace) if place.alone else (self._pace, self._pace_alone)
        return (first.value if first.value is not None else second.value) or 0.0
