"""The rooms of classes: what is counted, for whom, how much of it, and for how long."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from specdec.settings import BadInput
from visualizations.lesson import room as limits
from visualizations.lesson.room import Opened, RoomOver, Rooms, TooOften

ANSWERS = {"refill": 7, "faster": 4, **{f"coin.{n}": 2 for n in range(10)}}  # 7: its counts differ from room to room
HERE = "192.0.2.1"


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(clock: Clock) -> Rooms:
    return Rooms(clock)


@pytest.fixture
def room(rooms: Rooms) -> Opened:
    return rooms.open(ANSWERS, HERE)


def browser(number: int) -> str:
    return f"{number:032x}"


def test_a_vote_is_counted_once_and_the_first_stands(rooms: Rooms, room: Opened) -> None:
    rooms.join(room.code, browser(1), HERE)
    assert rooms.vote(room.code, browser(1), "refill", 2)
    assert not rooms.vote(room.code, browser(1), "refill", 0)
    assert not rooms.vote(room.code, browser(1), "refill", 2)
    counts = rooms.counts(room.code, room.key)
    assert counts.students == 1
    nobody = {question: (0,) * answers for question, answers in ANSWERS.items()}
    assert counts.votes == nobody | {"refill": (0, 0, 1, 0, 0, 0, 0)}


def test_a_code_is_read_however_it_is_typed(rooms: Rooms, room: Opened) -> None:
    assert len(room.code) == 4 and not set(room.code) & set("AEIOUL0123456789")
    assert rooms.join(f" {room.code.lower()}\n", browser(1), HERE) == room.code
    assert rooms.vote(room.code.lower(), browser(1), "faster", 1)


def test_two_rooms_never_mix(rooms: Rooms, room: Opened) -> None:
    other = rooms.open(ANSWERS, HERE)
    rooms.join(room.code, browser(1), HERE)
    rooms.vote(room.code, browser(1), "faster", 1)
    with pytest.raises(BadInput, match="Join room"):
        rooms.vote(other.code, browser(1), "faster", 0)
    assert rooms.counts(other.code, other.key).students == 0
    assert rooms.counts(other.code, other.key).votes["faster"] == (0, 0, 0, 0)
    with pytest.raises(BadInput, match="Only the browser"):
        rooms.counts(room.code, other.key)


@pytest.mark.parametrize("key", ["", None, 7, "0" * 32, "é" * 32, "\ud800" * 32, browser(1), ["0" * 32]])
def test_counts_and_the_end_are_the_teachers(rooms: Rooms, room: Opened, key: Any) -> None:
    rooms.join(room.code, browser(1), HERE)
    for teachers in (rooms.counts, rooms.close):
        with pytest.raises(BadInput, match="Only the browser"):
            teachers(room.code, key)
    assert rooms.counts(room.code, room.key).students == 1


def test_a_room_ends_after_its_time_or_by_its_teacher(rooms: Rooms, room: Opened, clock: Clock) -> None:
    closed = rooms.open(ANSWERS, HERE)
    rooms.close(closed.code, closed.key)
    clock.now += limits.LIFE_SECONDS - 1
    assert rooms.counts(room.code, room.key).seconds_left == 1
    clock.now += 1
    for gone in (room, closed):
        for ask in (lambda: rooms.join(gone.code, browser(1), HERE), lambda: rooms.counts(gone.code, gone.key)):
            with pytest.raises(RoomOver):
                ask()


def test_a_room_holds_no_more_than_its_limit(rooms: Rooms, room: Opened) -> None:
    for number in range(limits.MOST_BROWSERS):
        rooms.join(room.code, browser(number), HERE)
    with pytest.raises(BadInput, match="full"):
        rooms.join(room.code, browser(limits.MOST_BROWSERS), HERE)
    assert rooms.join(room.code, browser(0), HERE) == room.code
    assert rooms.counts(room.code, room.key).students == limits.MOST_BROWSERS


def test_when_all_rooms_are_taken_one_that_nobody_joined_gives_way(rooms: Rooms, clock: Clock) -> None:
    opened = [rooms.open(ANSWERS, f"address {n}") for n in range(limits.MOST_ROOMS)]
    rooms.join(opened[0].code, browser(1), HERE)
    with pytest.raises(TooOften):
        rooms.open(ANSWERS, HERE)
    clock.now += limits.UNUSED_SECONDS
    new = rooms.open(ANSWERS, HERE)
    assert rooms.counts(new.code, new.key) and rooms.counts(opened[0].code, opened[0].key).students == 1
    with pytest.raises(BadInput):
        rooms.counts(opened[1].code, opened[1].key)
    assert len({room.code for room in opened}) == limits.MOST_ROOMS


def test_what_is_asked_too_often_passes_again_a_minute_later(rooms: Rooms, room: Opened, clock: Clock) -> None:
    rooms.join(room.code, browser(1), HERE)
    votes = [lambda: rooms.vote(room.code, browser(1), "faster", 0)] * (limits.VOTES_A_MINUTE + 1)
    joins = [lambda: rooms.join("BBBB", browser(2), "joins")] * (limits.JOINS_A_MINUTE + 1)
    opens = [lambda: rooms.open(ANSWERS, "opens")] * (limits.OPENED_A_MINUTE + 1)
    for asked, last_fine in ((votes, True), (joins, False), (opens, True)):
        said = [outcome(ask) for ask in asked]
        assert TooOften not in said[:-1] and said[-1] is TooOften
        clock.now += 60
        assert outcome(asked[-1]) is (None if last_fine else RoomOver)
    rooms.join(room.code, browser(3), "another address")


def outcome(ask: Any) -> type[BadInput] | None:
    try:
        ask()
    except BadInput as refusal:
        return type(refusal)
    return None


@pytest.mark.parametrize("bad", [None, 7, "", "ABCDE", "A" * 100_000, ["BBBB"], {}, "\ud800"])
def test_whatever_a_visitor_sends_is_refused_in_one_sentence(rooms: Rooms, room: Opened, bad: Any) -> None:
    rooms.join(room.code, browser(1), HERE)
    asked = [
        lambda: rooms.join(bad, browser(1), HERE),
        lambda: rooms.join(room.code, bad, HERE),
        lambda: rooms.vote(room.code, bad, "faster", 0),
        lambda: rooms.vote(room.code, browser(1), bad, 0),
        lambda: rooms.counts(bad, room.key),
    ]
    answers = (bad, 4, -1, 1.0, True)
    asked += [lambda answer=answer: rooms.vote(room.code, browser(1), "faster", answer) for answer in answers]
    for ask in asked:
        with pytest.raises(BadInput) as refusal:
            ask()
        assert str(refusal.value).endswith(".") and len(str(refusal.value)) < 200 and "\n" not in str(refusal.value)
    assert rooms.counts(room.code, room.key).votes["faster"] == (0, 0, 0, 0)


def share(shift: int, answers: int) -> tuple[int, ...]:
    """How many of 60 browsers give each answer when they give them in turn, from `shift` on."""
    return tuple(sum((number + shift) % answers == answer for number in range(60)) for answer in range(answers))


def counted_right(rooms: Rooms) -> bool:
    """Whether 60 browsers that answer 12 questions in two rooms, twice each from 16 threads, are counted exactly."""
    opened = [rooms.open(ANSWERS, HERE), rooms.open(ANSWERS, HERE)]

    def votes(task: tuple[int, str]) -> None:
        number, question = task
        for shift, room in enumerate(opened):
            rooms.join(room.code, browser(number), HERE)
            for answer in (number + shift, number + shift + 1):
                rooms.vote(room.code, browser(number), question, answer % ANSWERS[question])

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(votes, [(number, question) for number in range(60) for question in ANSWERS]))
    shares = [{question: share(shift, answers) for question, answers in ANSWERS.items()} for shift in (0, 1)]
    counts = [rooms.counts(room.code, room.key) for room in opened]
    return [count.votes for count in counts] == shares and [count.students for count in counts] == [60, 60]


class LastVoteStands(Rooms):
    """A planted fault: a later vote takes the place of the first."""

    def vote(self, code: Any, browser: Any, question: Any, answer: Any) -> bool:
        first = super().vote(code, browser, question, answer)
        self._rooms[code].votes[question][browser] = answer
        return first


class OneVoteForAll(Rooms):
    """A planted fault: the votes of all rooms lie together."""

    together: dict[str, dict[str, int]] = {}

    def open(self, answers: Any, address: str) -> Opened:
        opened = super().open(answers, address)
        object.__setattr__(self._rooms[opened.code], "votes", self.together)
        return opened


def test_sixty_browsers_at_once_are_counted_exactly() -> None:
    assert counted_right(Rooms())


@pytest.mark.parametrize("faulty", [LastVoteStands, OneVoteForAll])
def test_a_wrong_count_would_be_noticed(faulty: type[Rooms]) -> None:
    assert not counted_right(faulty())
