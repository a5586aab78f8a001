"""The exactness figures are usable as they are: plain data in, a plotly figure out."""

from __future__ import annotations

import json

import pytest

from visualizations.figures.palette import MEANINGS
from visualizations.figures.rule_laws import rule_laws
from visualizations.figures.sampling_run import SamplingRun, distances, frequencies

P = (0.4, 0.2, 0.4)


def run(passed: bool = True, limit: float = 0.0) -> SamplingRun:
    return SamplingRun(
        labels=("A", "<b>B", "$C$"),
        law=P,
        checkpoints=(10, 100, 1000),
        frequencies=((0.5, 0.2, 0.3), (0.42, 0.2, 0.38), (0.4, 0.2, 0.4)),
        distances=(0.1, 0.02, 0.0),
        expected=(0.2, 0.06, 0.02),
        limit=limit,
        passed=passed,
    )


@pytest.mark.parametrize("figure", [frequencies, distances])
def test_a_frame_for_each_checkpoint(figure):
    made = figure(run())
    assert [frame.name for frame in made.frames] == ["10", "100", "1000"]
    assert json.loads(made.to_json())["frames"][-1]["data"][0]["y"] == json.loads(made.to_json())["data"][0]["y"]


def test_frequencies_are_drawn_over_p_big_in_the_colour_of_the_verdict():
    passed, failed = frequencies(run()), frequencies(run(passed=False))
    assert tuple(passed.data[1].y) == P
    assert passed.data[0].marker.color == MEANINGS["overlap"].color
    assert failed.data[0].marker.color == MEANINGS["excess"].color
    assert failed.data[0].marker.pattern.shape == MEANINGS["excess"].pattern


def test_labels_are_text_not_markup():
    assert list(frequencies(run()).layout.xaxis.ticktext) == ["A", "&lt;b&gt;B", "&#36;C&#36;"]


def test_a_biased_rule_shows_its_own_distance():
    assert len(distances(run()).data) == 3
    assert len(distances(run(passed=False, limit=0.1)).data) == 4


def test_no_distance_of_zero_on_a_log_axis():
    assert distances(run()).data[0].y[-1] is None


def test_rule_laws_has_a_panel_for_each_rule():
    laws = {rule: (P, 0.5, 0.0) for rule in ("token", "match", "block", "typical", "lenient")}
    figure = rule_laws(["A", "B", "C"], P, laws)
    assert len(figure.data) == 2 * len(laws)
    assert figure.data[6].marker.color == MEANINGS["excess"].color
