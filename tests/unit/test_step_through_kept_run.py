"""The run that the page holds: it is that run, or a sentence, and never another one."""

from __future__ import annotations

from typing import Any

import pytest

from specdec.settings import BadInput
from visualizations.step_through.examples import examples, recorded_trace
from visualizations.step_through.kept_run import LOST, NOTHING, UNDER_WAY, kept, kept_example, trace_on_screen


def test_a_kept_run_comes_back_as_it_was() -> None:
    trace = recorded_trace(examples()[1])
    assert trace_on_screen(kept(trace, "a run")) == trace


def test_an_example_is_its_recorded_run() -> None:
    for example in examples():
        assert trace_on_screen(kept_example(example)) == recorded_trace(example)


def test_a_missing_run_says_in_which_way() -> None:
    sentences = set()
    for missing in (NOTHING, UNDER_WAY, LOST, {"missing": "too_large"}):
        with pytest.raises(BadInput) as refusal:
            trace_on_screen(missing)
        sentences.add(str(refusal.value))
    assert len(sentences) == 4


@pytest.mark.parametrize(
    "value",
    [None, {}, [], "facts", 7, {"example": "nothing of ours"}, {"example": ["facts"]}, {"trace": "{}"}, {"trace": 7},
     {"trace": "<img src=x>"}, {"missing": ["none"]}, {"missing": "unheard of"}],
)  # fmt: skip
def test_what_is_no_run_is_refused_in_a_sentence(value: Any) -> None:
    with pytest.raises(BadInput) as refusal:
        trace_on_screen(value)
    assert str(refusal.value).endswith(".") and "\n" not in str(refusal.value)
