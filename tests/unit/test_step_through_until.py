"""Breakpoints: where a run pauses, judged from the rounds as they come."""

from __future__ import annotations

import pytest

from specdec.settings import BadInput
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.step_through.examples import examples, recorded_trace
from visualizations.step_through.until import Until, read_until

TRACE = recorded_trace(examples()[0])


def pauses(until: Until, trace: Trace = TRACE) -> list[tuple[int, int]]:
    """(round, place) wherever the run would pause."""
    before, found = "", []
    for number, round_ in enumerate(trace.rounds):
        step = Step(round_, "cancelled")
        if met := until.met(step, before):
            found.append((number, met.place))
        before += step.text
    return found


def places(holds) -> list[tuple[int, int]]:
    """The first place of each round at which `holds` is true of a position of the text."""
    found = []
    for number, round_ in enumerate(TRACE.rounds):
        place = next((i for i, p in enumerate(round_.positions) if p.kind != "discarded" and holds(p)), None)
        found += [(number, place)] if place is not None else []
    return found


def test_nothing_is_waited_for_unless_it_was_asked():
    assert pauses(Until()) == []


def test_each_breakpoint_is_met_at_its_first_place_in_every_round():
    assert pauses(Until(every_round=True)) == [(n, 0) for n in range(len(TRACE.rounds))]
    assert pauses(Until(rejection=True)) == places(lambda p: p.kind == "replaced") != []
    assert pauses(Until(overlap=0.4)) == places(lambda p: p.overlap is not None and p.overlap < 0.4) != []
    assert pauses(Until(entropy=2.0)) == places(lambda p: p.target_entropy > 2.0) != []


def test_the_first_of_several_counts():
    both = pauses(Until(rejection=True, entropy=2.0))
    assert both == places(lambda p: p.kind == "replaced" or p.target_entropy > 2.0)


@pytest.mark.parametrize("length", [1, 2, 5, 12, 30])
def test_a_text_is_met_where_its_last_character_comes_however_many_tokens_it_spans(length):
    whole = TRACE.output.text
    for start in range(0, len(whole) - length, 7):
        text = whole[start : start + length]
        end = whole.index(text) + length
        number, place = pauses(Until(text=text))[0]
        written = [p for n, r in enumerate(TRACE.rounds) for i, p in enumerate(r.positions) if p.kind != "discarded" and (n, i) <= (number, place)]
        so_far = "".join(p.text for p in written)
        assert len(so_far) >= end > len(so_far) - len(written[-1].text)


EMPTY = (False, False, "", "", "")


def test_boxes_left_empty_ask_for_nothing():
    assert read_until(EMPTY) == read_until((False, False, "", " ", "")) == Until()
    assert read_until((True, True, "0.25", "3", "the")) == Until(True, True, 0.25, 3.0, "the")


@pytest.mark.parametrize(
    "values",
    [(1, False, None, None, ""), (False, "x", None, None, ""), (False, False, "1.5", "", ""), (False, False, "-1", "", ""), (False, False, "nan", "", ""),
     (False, False, "x", None, ""), (False, False, "", "1e9", ""), (False, False, None, None, None),
     (False, False, None, None, "x" * 65), (False, False, None, None, "\ud800")],
)  # fmt: skip
def test_what_is_no_breakpoint_is_refused_in_a_sentence(values):
    with pytest.raises(BadInput) as refusal:
        read_until(values)
    assert len(str(refusal.value)) < 200
