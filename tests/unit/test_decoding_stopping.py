"""When a text ends: token by token, so that the earliest reason wins."""

from __future__ import annotations

import pytest

from specdec.decoding.stopping import Stopping, end_of_stop_string

STOP = 9


def spelled(ids) -> str:
    return "".join(chr(ord("A") + token) for token in ids)


def test_an_end_inside_an_accepted_block_cuts_the_block_there():
    stopping = Stopping(frozenset({STOP}), budget=5)
    assert stopping.cut([], [10, 11, STOP, 20, 21, 22]) == ([10, 11, STOP], "eos")


@pytest.mark.parametrize("budget", [3, 4])
def test_an_end_before_or_at_the_budget_wins_over_the_budget(budget):
    stopping = Stopping(frozenset({STOP}), budget=budget)
    assert stopping.cut([10], [11, STOP, 20]) == ([11, STOP], "eos")


def test_the_budget_wins_over_an_end_behind_it():
    assert Stopping(frozenset({STOP}), budget=2).cut([10], [11, STOP]) == ([11], "length")


@pytest.mark.parametrize("eos", [2, 7])
def test_each_of_several_ends_is_honoured(eos):
    assert Stopping(frozenset({2, 7}), budget=9).cut([], [5, eos, 5]) == ([5, eos], "eos")


def test_a_stop_string_completed_early_in_a_block_is_found():
    stopping = Stopping(frozenset(), budget=99, stop_strings=("END",), decode=spelled)
    e, n, d = 4, 13, 3
    assert stopping.cut([0, e, n], [d, 1, 2, 3, 4, 5]) == ([d], "stop_string")
    assert stopping.cut([0], [e, n, d, e, n, d]) == ([e, n, d], "stop_string")


def test_the_first_complete_stop_string_ends_the_text():
    assert end_of_stop_string("one END two STOP", ("STOP", "END")) == 7
    assert end_of_stop_string("abcabc", ("abcab", "bc")) == 3
    assert end_of_stop_string("EN", ("END",)) is None


def test_a_text_that_goes_on_is_kept_whole():
    assert Stopping(frozenset({STOP}), budget=9).cut([1], [2, 3]) == ([2, 3], None)


def test_a_full_context_has_its_own_reason():
    assert Stopping(frozenset(), budget=2, budget_reason="context_full").cut([1], [2, 3]) == ([2], "context_full")
