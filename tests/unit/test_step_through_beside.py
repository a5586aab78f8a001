"""Plain decoding beside a run: what is compared, and what is said of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from specdec.models.pairs import Pair
from specdec.models.table import TableModel
from specdec.recording import decode
from specdec.settings import Settings
from specdec.trace.trace import Trace
from visualizations.step_through import beside
from visualizations.step_through.beside import Beside, Parting, Took, compare, decode_beside, is_comparable
from visualizations.step_through.lane import beside_value

GREEDY = Settings(chat=False, max_new_tokens=12, temperature=0.0, gamma=3)
CIRCLE = [[0.1, 0.7, 0.2], [0.2, 0.1, 0.7], [0.7, 0.2, 0.1]]  # t0 -> t1 -> t2 -> t0
NEAR, WIDE_PASS = 0.001, 2


class WidthRounding(TableModel):
    """A table that gives a pass over several tokens other roundings than one over one, as short numbers do: there a
    token whose logit is a thousandth lower comes first."""

    def extend(self, tokens: Tensor) -> Tensor:
        logits = super().extend(tokens).clone()
        if len(tokens) >= WIDE_PASS:
            logits[..., 1] += 2 * NEAR
        return logits


@pytest.fixture
def circle(table_pair: Callable[..., Pair]) -> Pair:
    return table_pair(CIRCLE, CIRCLE)


def slower(trace: Trace, times: float) -> Trace:
    """The same run on a machine whose clock ran on."""
    seconds = trace.metrics.decode_seconds * times
    return replace(trace, metrics=replace(trace.metrics, decode_seconds=seconds))


@pytest.mark.parametrize("rule", ["token", "match", "block"])
def test_the_same_text_at_temperature_0(circle: Pair, rule: str) -> None:
    found = decode_beside(circle, decode(circle, "t0", GREEDY.changed(rule=rule)))
    assert found.compared == 12 and found.parting is None
    assert found.drafted.tokens == found.plain.tokens == 12
    assert found.speedup is not None and found.speedup > 0


def test_the_speedup_is_of_seconds_a_token_so_that_a_shorter_text_is_no_faster(circle: Pair) -> None:
    ran, plain = decode(circle, "t0", GREEDY), decode(circle, "t0", GREEDY.changed(gamma=0, max_new_tokens=6))
    seconds = ran.metrics.decode_seconds
    plain = replace(plain, metrics=replace(plain.metrics, decode_seconds=seconds))
    assert compare(ran, plain).speedup == pytest.approx(2)
    assert compare(slower(ran, 4), plain).speedup == pytest.approx(0.5)
    assert compare(ran, plain).compared == 6


def test_the_first_difference_of_two_texts(circle: Pair, table_pair: Callable[..., Pair]) -> None:
    other = [CIRCLE[0], CIRCLE[1], [0.2, 0.7, 0.1]]  # t2 -> t1
    ran = decode(circle, "t0", GREEDY)
    found = compare(ran, decode(table_pair(other), "t0", GREEDY.changed(gamma=0)))
    parting = found.parting
    assert parting is not None and parting.number == 3
    assert (parting.here.text.strip(), parting.plain.text.strip()) == ("t0", "t1")


def test_a_difference_by_rounding_is_told_with_what_p_big_gave_both(pair_of: Callable[..., Pair]) -> None:
    law = torch.tensor([0.5, 0.5 * math.exp(-NEAR), 0.01])
    pair = pair_of(WidthRounding(law), TableModel([0.2, 0.7, 0.1]))
    parting = decode_beside(pair, decode(pair, "t2", GREEDY)).parting
    assert parting is not None and parting.near
    assert (parting.number, parting.here.token_id, parting.plain.token_id) == (1, 1, 0)
    assert parting.odds == pytest.approx([float(law[1] / law.sum()), float(law[0] / law.sum())], rel=1e-5)


def test_p_big_is_that_of_the_place_where_the_texts_part(circle: Pair, table_pair: Callable[..., Pair]) -> None:
    other = table_pair([CIRCLE[0], CIRCLE[1], [0.2, 0.7, 0.1]])
    parting = decode_beside(other, decode(circle, "t0", GREEDY)).parting
    assert parting is not None and parting.odds == pytest.approx([0.2, 0.7]) and not parting.near


def test_plain_decoding_that_takes_too_long_is_compared_as_far_as_it_came(
    circle: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "LONGEST_SECONDS", 0.0)
    found = decode_beside(circle, decode(circle, "t0", GREEDY))
    assert found.compared == found.plain.tokens == 1 and found.parting is None
    assert found.speedup == pytest.approx(12 * found.plain.seconds / found.drafted.seconds)


@pytest.mark.parametrize("settings", [{"temperature": 0.7}, {"rule": "typical"}])
def test_nothing_is_said_about_texts_that_need_not_be_the_same(circle: Pair, settings: dict[str, Any]) -> None:
    found = decode_beside(circle, decode(circle, "t0", GREEDY.changed(**settings)))
    assert found.compared is None and found.parting is None and found.speedup is not None


def test_a_run_that_drafted_nothing_or_was_cancelled_is_not_compared(circle: Pair) -> None:
    ran = decode(circle, "t0", GREEDY)
    assert is_comparable(ran, ran.output.stop_reason)
    assert not is_comparable(ran, "cancelled")
    assert not is_comparable(decode(circle, "t0", GREEDY.changed(gamma=0)), "length")


def test_what_the_page_is_told_keeps_hostile_text_as_text(circle: Pair) -> None:
    ran = decode(circle, "t0", GREEDY)
    hostile = replace(ran.positions[0], text="<img src=x>\n")
    told = beside_value(Beside(Took(1, 0.5), Took(1, 1.0), 1, Parting(1, hostile, ran.positions[1], (0.5, 0.49))))
    assert told["parting"] == {"number": 1, "labels": ["<img␣src=x>⏎", "t2"], "odds": (0.5, 0.49), "near": True}
    assert told["speedup"] == 2
