"""When a text ends: token by token, so that the earliest reason wins."""

from __future__ import annotations

import pytest

from specdec.decoding.stopping import Stopping, end_of_stop_string

STOP = 9


def letters():
    return lambda token: chr(ord("A") + token)


def cut(stopping: Stopping, before, new):
    """What stays of `new` behind a text that went on up to then."""
    ending = stopping.begin()
    assert ending.cut(before) == (list(before), None)
    return ending.cut(new)


def test_an_end_inside_an_accepted_block_cuts_the_block_there():
    stopping = Stopping(frozenset({STOP}), budget=5)
    assert cut(stopping, [], [10, 11, STOP, 20, 21, 22]) == ([10, 11, STOP], "eos")


@pytest.mark.parametrize("budget", [3, 4])
def test_an_end_before_or_at_the_budget_wins_over_the_budget(budget):
    stopping = Stopping(frozenset({STOP}), budget=budget)
    assert cut(stopping, [10], [11, STOP, 20]) == ([11, STOP], "eos")


def test_the_budget_wins_over_an_end_behind_it():
    assert cut(Stopping(frozenset({STOP}), budget=2), [10], [11, STOP]) == ([11], "length")


@pytest.mark.parametrize("eos", [2, 7])
def test_each_of_several_ends_is_honoured(eos):
    assert cut(Stopping(frozenset({2, 7}), budget=9), [], [5, eos, 5]) == ([5, eos], "eos")


def test_a_stop_string_completed_early_in_a_block_is_found():
    stopping = Stopping(frozenset(), budget=99, stop_strings=("END",), spelling=letters)
    e, n, d = 4, 13, 3
    assert cut(stopping, [0, e, n], [d, 1, 2, 3, 4, 5]) == ([d], "stop_string")
    assert cut(stopping, [0], [e, n, d, e, n, d]) == ([e, n, d], "stop_string")


def test_the_first_complete_stop_string_ends_the_text():
    assert end_of_stop_string("one END two STOP", ("STOP", "END")) == 7
    assert end_of_stop_string("abcabc", ("abcab", "bc")) == 3
    assert end_of_stop_string("EN", ("END",)) is None


def test_a_text_that_goes_on_is_kept_whole():
    assert cut(Stopping(frozenset({STOP}), budget=9), [1], [2, 3]) == ([2, 3], None)


def test_a_full_context_has_its_own_reason():
    assert cut(Stopping(frozenset(), budget=2, budget_reason="context_full"), [1], [2, 3]) == ([2], "context_full")


def test_what_a_token_costs_does_not_grow_with_the_text():
    """Every id is spelled once, however long the text and however many its rounds."""
    spelled = []
    stopping = Stopping(
        frozenset(), 10_000, stop_strings=("never",), spelling=lambda: lambda id: spelled.append(id) or "x"
    )
    ending = stopping.begin()
    for start in range(0, 500, 2):
        ending.cut([start, start + 1])
    assert spelled == list(range(500))


def test_a_stop_string_spread_over_rounds_and_over_silent_tokens_is_found():
    """Tokens inside a character add nothing; the stop string may begin rounds before it ends."""
    pieces = {0: "xx", 1: "", 2: "E", 3: "ND", 4: "EN", 5: "D!"}
    stopping = Stopping(frozenset(), 99, stop_strings=("END",), spelling=lambda: pieces.__getitem__)
    assert cut(stopping, [0, 2, 1, 1, 1], [3]) == ([3], "stop_string")
    assert cut(stopping, [0, 4, 1, 1], [1, 5, 0]) == ([1, 5], "stop_string")
    assert cut(stopping, [2, 0], [3]) == ([3], None)


def test_each_text_is_followed_on_its_own():
    stopping = Stopping(frozenset(), 3, stop_strings=("AB",), spelling=letters)
    first, second = stopping.begin(), stopping.begin()
    assert first.cut([0]) == ([0], None)
    assert second.cut([1]) == ([1], None), "the A of the first text is not the second's"
    assert first.cut([1]) == ([1], "stop_string")
