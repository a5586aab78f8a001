"""Who has the models and who waits: by arrival, as many as there are slots, and whoever measures alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from visualizations.serving.places import Full, Place, Places

TOKENS = 10


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def entered(places: Places, tokens: int = TOKENS, *, alone: bool = False, key: str = "pair", room: int = 99) -> Place:
    place = places.arrive(tokens, alone)
    places.enter(place, key, room)
    return place


def has(places: Places, place: Place) -> bool:
    return places.wait(place, 0)


def test_the_line_is_by_arrival_also_when_models_come_later() -> None:
    places = Places(1)
    held = entered(places)
    early, late = places.arrive(TOKENS), places.arrive(TOKENS)
    places.enter(late, "pair", 1)
    places.enter(early, "pair", 1)
    assert [places.position(place).place for place in (early, late)] == [1, 2]
    places.leave(held)
    assert has(places, early) and not has(places, late)


def test_a_place_in_the_line_that_is_left_makes_the_others_move_up() -> None:
    places = Places(1)
    held, *line = (entered(places) for _ in range(4))
    places.leave(line[1])
    assert [places.position(place).place for place in (line[0], line[2])] == [1, 2]
    places.leave(held)
    assert has(places, line[0]) and places.position(line[0]) is None


def test_a_pair_with_less_room_lets_those_pass_who_want_another() -> None:
    places = Places(3)
    first, second = entered(places, key="single", room=1), entered(places, key="single", room=1)
    other = entered(places, key="shared")
    assert has(places, first) and has(places, other) and not has(places, second)
    places.leave(first)
    assert has(places, second)


def test_whoever_measures_waits_for_all_and_lets_none_pass() -> None:
    places = Places(3)
    first, second = entered(places), entered(places)
    measures, behind = entered(places, alone=True), entered(places)
    assert not has(places, measures) and places.position(behind).behind and not places.position(measures).behind
    places.leave(first)
    assert not has(places, measures) and not has(places, behind)
    places.leave(second)
    assert has(places, measures) and not has(places, behind) and not measures.shared
    places.leave(measures)
    assert has(places, behind)


def test_idle_models_are_taken_when_nobody_is_here_and_kept_from_nobody_unseen() -> None:
    places = Places(2)
    beside = places.take_idle()
    assert beside and not places.others_than(beside) and places.take_idle() is None
    asks = places.arrive(TOKENS)
    assert places.others_than(beside), "also while its models still load"
    places.enter(asks, "pair", 2)
    assert not has(places, asks)
    places.leave(beside)
    assert has(places, asks) and places.take_idle() is None
    places.leave(asks)
    assert places.take_idle()


def test_a_wait_is_reckoned_from_the_tokens_before_it_and_what_tokens_took(clock: Clock) -> None:
    places = Places(1, clock=clock)
    held, second, third = (entered(places) for _ in range(3))
    assert places.position(second).seconds is None, "nothing was measured yet"
    clock.now = 3.0
    places.decoded(held, 1)
    assert places.position(second).seconds is None, "its prompt was read, which doesn't tell what a token takes"
    clock.now = 11.0
    places.decoded(held, 4)  # 2 s each, 5 are left
    assert places.position(second).seconds == pytest.approx(10)
    assert places.position(third).seconds == pytest.approx(10 + 3 + TOKENS * 2)


def test_what_a_run_takes_that_has_the_machine_for_itself_says_nothing_of_a_wait(clock: Clock) -> None:
    places = Places(1, clock=clock)
    held = entered(places)
    for clock.now in (1.0, 2.0):
        places.decoded(held, 1)
    waits = entered(places)
    assert places.position(waits).seconds is None
    clock.now = 5.0
    places.decoded(held, 1)  # 3 s each, 7 are left
    assert places.position(waits).seconds == pytest.approx(21)


def test_more_slots_shorten_the_wait(clock: Clock) -> None:
    places = Places(2, clock=clock)
    one, two, third, fourth = (entered(places) for _ in range(4))
    for clock.now, tokens in ((0.0, 1), (8.0, 4)):  # 2 s each
        places.decoded(one, tokens)
        places.decoded(two, tokens)
    assert places.position(third).seconds == places.position(fourth).seconds == pytest.approx(10)
    places.leave(two)
    assert has(places, third) and places.position(fourth).seconds == pytest.approx(10)


def test_who_measures_waits_for_the_last_and_who_is_behind_for_the_measurement_too(clock: Clock) -> None:
    places = Places(2, clock=clock)
    one, two = entered(places), entered(places, 20)
    measures, behind = entered(places, 100, alone=True), entered(places)
    for clock.now, tokens in ((0.0, 1), (4.0, 4)):  # 1 s each
        places.decoded(one, tokens)
        places.decoded(two, tokens)
    assert places.position(measures).seconds == pytest.approx(15)
    assert places.position(behind).seconds == pytest.approx(115)
    places.leave(one)
    places.leave(two)
    clock.now = 24.0
    assert places.position(behind).seconds == pytest.approx(80), "it counts down while the measurement goes on"


def test_when_too_many_wait_the_next_is_told_how_long_the_line_is(clock: Clock) -> None:
    places = Places(1, most_waiting=2, clock=clock)
    held = entered(places)
    line = [entered(places) for _ in range(2)]
    with pytest.raises(Full) as full:
        places.arrive(TOKENS)
    assert full.value.seconds is None
    for clock.now in (0.0, 1.0):
        places.decoded(held, 1)
    with pytest.raises(Full) as full:
        places.arrive(TOKENS)
    assert full.value.seconds == pytest.approx(8)
    places.leave(line[0])
    assert places.arrive(TOKENS)


def test_runs_at_the_same_time_are_marked_and_one_after_another_are_not() -> None:
    places = Places(2)
    first = entered(places)
    places.leave(first)
    second, third = entered(places), entered(places)
    assert (first.shared, second.shared, third.shared) == (False, True, True)
