"""Rooms for classes, without accounts: who joined with which browser, and one vote for each question.

All of it is in memory, holds no name and no address beyond the minute, and is forgotten two hours after a room was
opened. Every value that a visitor sends is checked here; a refusal is a `BadInput`.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from specdec.settings import BadInput, shown
from visualizations.text import t

LETTERS = "BCDFGHJKMNPQRSTVWXYZ"  # none that looks like a digit or like I; no vowels, so that no code is a word
CODE_LENGTH = 4
LIFE_SECONDS = 2 * 3600.0
UNUSED_SECONDS = 15 * 60.0  # a room that nobody joined for so long gives way to a new one when all are taken
MOST_ROOMS = 200
MOST_BROWSERS = 60
# A school is often one address, and so is everybody behind a proxy.
OPENED_A_MINUTE = 20
JOINS_A_MINUTE = 240
VOTES_A_MINUTE = 30

_CODE = re.compile(f"[{LETTERS}]{{{CODE_LENGTH}}}")
_HEX_128 = re.compile("[0-9a-f]{32}")


class RoomOver(BadInput):
    """There is no such room any more, or there never was."""


class TooOften(BadInput):
    """The same may be asked again a minute later."""


@dataclass(frozen=True)
class Opened:
    """A new room. key: for the teacher alone, whom it lets see the counts and close the room."""

    code: str
    key: str


@dataclass(frozen=True)
class Counts:
    """What a teacher sees. votes: for each question the votes of each answer, in the order of its options."""

    students: int
    seconds_left: float
    votes: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class _Room:
    code: str
    key: str
    opened: float
    answers: Mapping[str, int]
    browsers: set[str] = field(default_factory=set)
    votes: dict[str, dict[str, int]] = field(default_factory=dict)  # by question, then by browser

    def counts(self, now: float) -> Counts:
        tally = {}
        for question, answers in self.answers.items():
            counted = Counter(self.votes.get(question, {}).values())
            tally[question] = tuple(counted[answer] for answer in range(answers))
        return Counts(len(self.browsers), self.opened + LIFE_SECONDS - now, tally)


class _EachMinute:
    """Lets each key pass `most` times in a minute of the clock, and forgets all keys with the minute."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._minute = 0
        self._passed: Counter[Any] = Counter()

    def passes(self, key: Any, now: float) -> bool:
        if int(now // 60) != self._minute:
            self._minute, self._passed = int(now // 60), Counter()
        self._passed[key] += 1
        return self._passed[key] <= self._most


class Rooms:
    """The open rooms of this process, for any number of threads. clock: seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rooms: dict[str, _Room] = {}
        self._opening = _EachMinute(OPENED_A_MINUTE)
        self._joining = _EachMinute(JOINS_A_MINUTE)
        self._voting = _EachMinute(VOTES_A_MINUTE)

    def open(self, answers: Mapping[str, int], address: str) -> Opened:
        """A new room. answers: the number of options of each question that may be voted on. address: who asks."""
        with self._lock:
            now = self._clock()
            self._forget_old(now)
            if not self._opening.passes(address, now):
                raise TooOften(t("room.bad.opened", most=OPENED_A_MINUTE))
            self._make_place(now)
            code = next(code for code in iter(_new_code, None) if code not in self._rooms)
            self._rooms[code] = room = _Room(code, secrets.token_hex(16), now, dict(answers))
            return Opened(code, room.key)

    def join(self, code: Any, browser: Any, address: str) -> str:
        """Lets a browser vote in a room, again and again if it likes, and gives the room's code as it is written.

        browser: 32 hexadecimal digits that its page drew at random.
        """
        with self._lock:
            now, written, name = self._clock(), _written(code), _browser(browser)
            self._forget_old(now)
            room = self._rooms.get(written)
            if room and name in room.browsers:
                return written
            if not self._joining.passes(address, now):  # wrong codes count too: nobody tries them all
                raise TooOften(t("room.bad.joined", most=JOINS_A_MINUTE))
            room = self._room(written, now)
            if len(room.browsers) >= MOST_BROWSERS:
                raise BadInput(t("room.bad.full", code=written, most=MOST_BROWSERS))
            room.browsers.add(name)
            return written

    def vote(self, code: Any, browser: Any, question: Any, answer: Any) -> bool:
        """Counts a browser's first vote on a question; of any later one nothing is kept, and it gives False."""
        with self._lock:
            now = self._clock()
            room, name = self._room(code, now), _browser(browser)
            if name not in room.browsers:
                raise BadInput(t("room.bad.not_joined", code=room.code))
            if not self._voting.passes((room.code, name), now):
                raise TooOften(t("room.bad.voted", most=VOTES_A_MINUTE))
            if not isinstance(question, str) or question not in room.answers:
                raise BadInput(t("room.bad.question", value=shown(question)))
            last = room.answers[question] - 1
            if type(answer) is not int or not 0 <= answer <= last:
                raise BadInput(t("room.bad.answer", question=question, last=last, value=shown(answer)))
            votes = room.votes.setdefault(question, {})
            first = name not in votes
            votes.setdefault(name, answer)
            return first

    def counts(self, code: Any, key: Any) -> Counts:
        """The counts of a room, for its teacher alone."""
        with self._lock:
            now = self._clock()
            return self._own_room(code, key, now).counts(now)

    def close(self, code: Any, key: Any) -> None:
        """Forgets a room and all that was in it, for its teacher alone."""
        with self._lock:
            del self._rooms[self._own_room(code, key, self._clock()).code]

    def _room(self, code: Any, now: float) -> _Room:
        self._forget_old(now)
        written = _written(code)
        if written not in self._rooms:
            raise RoomOver(t("room.bad.over", code=written))
        return self._rooms[written]

    def _own_room(self, code: Any, key: Any, now: float) -> _Room:
        room = self._room(code, now)
        text = key if isinstance(key, str) and _HEX_128.fullmatch(key) else ""
        if not secrets.compare_digest(text, room.key):
            raise BadInput(t("room.bad.key", code=room.code))
        return room

    def _forget_old(self, now: float) -> None:
        for room in list(self._rooms.values()):
            if now - room.opened >= LIFE_SECONDS:
                del self._rooms[room.code]

    def _make_place(self, now: float) -> None:
        if len(self._rooms) < MOST_ROOMS:
            return
        unused = next((room for room in self._rooms.values() if not room.browsers), None)  # the oldest: a dict's order
        if unused is None or now - unused.opened < UNUSED_SECONDS:
            raise TooOften(t("room.bad.taken", most=MOST_ROOMS))
        del self._rooms[unused.code]


def _new_code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def _written(code: Any) -> str:
    """A code as the screen shows it, however it was typed."""
    written = code.strip().upper() if isinstance(code, str) else ""
    if not _CODE.fullmatch(written):
        raise BadInput(t("room.bad.code", count=CODE_LENGTH, letters=LETTERS, value=shown(code)))
    return written


def _browser(value: Any) -> str:
    if not isinstance(value, str) or not _HEX_128.fullmatch(value):
        raise BadInput(t("room.bad.browser", value=shown(value)))
    return value
