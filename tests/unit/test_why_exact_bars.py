"""The bars that come back from the page are checked like any other input."""

from __future__ import annotations

import pytest

from specdec.settings import BadInput
from visualizations.figures.mass_flow import mass_flow, mass_flow_figure
from visualizations.text import section
from visualizations.why_exact.bars import PRESETS, checked_bars, preset_value
from visualizations.why_exact.playground.loading import load_script


def value(*masses, **more):
    return {"tokens": [{"name": name, "q": q, "p": p, "agree": 1} for name, (q, p) in zip("ABCDEFGHI", masses)], **more}


@pytest.mark.parametrize("key", PRESETS)
def test_presets_are_laws(key):
    bars = checked_bars(preset_value(key))
    assert sum(bars.p_small) == pytest.approx(1) and sum(bars.p_big) == pytest.approx(1)
    assert section("exact.playground.preset")[key] and section("exact.playground.preset_is")[key]


def test_the_first_preset_has_a_token_always_kept_and_one_never():
    bars = checked_bars(preset_value("article"))
    by_name = {name: (q, p) for name, q, p in zip(bars.names, bars.p_small, bars.p_big)}
    assert by_name["C"][0] <= by_name["C"][1]
    assert by_name["D"][0] > 0 and by_name["D"][1] == 0


def test_other_becomes_two_cells_that_keep_its_masses():
    tokens = value((0.5, 0.2), (0.2, 0.5))["tokens"] + [{"name": "all other", "q": 300, "p": 300, "agree": 0.4}]
    tokens = [{**token, "q": token["q"] * (1000 if token["q"] < 1 else 1), "p": token["p"] * (1000 if token["p"] < 1 else 1)} for token in tokens]
    bars = checked_bars({"tokens": tokens})
    assert bars.coarse and len(bars.names) == 4
    cells = list(zip(bars.p_small, bars.p_big))[2:]
    assert sum(q for q, _ in cells) == pytest.approx(0.3)
    assert sum(min(cell) for cell in cells) == pytest.approx(0.12)
    assert cells[0][0] > cells[0][1] and cells[1][0] < cells[1][1]


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "text",
        [],
        {},
        {"tokens": "ABC"},
        {"tokens": [1, 2, 3]},
        value((1, 1), (0, 0)),
        value(*[(1, 1)] * 9),
        value((0, 1), (0, 0), (0, 0)),
        value((-1, 1), (1, 0), (1, 0)),
        value((float("nan"), 1), (1, 0), (1, 0)),
        value((float("inf"), 1), (1, 0), (1, 0)),
        value((True, 1), (1, 0), (1, 0)),
        value(("1", 1), (1, 0), (1, 0)),
        {"tokens": [{"name": "x" * 500, "q": 1, "p": 1}] * 3},
        {"tokens": [{"name": 7, "q": 1, "p": 1}] * 3},
        {"tokens": [{"name": "\ud800", "q": 1, "p": 1}] * 3},
        {"tokens": [{"name": "x", "q": 1, "p": 1, "agree": 2}] * 3},
        {"tokens": [{"name": "x", "q": 9, "p": 9, "agree": 0.5}] * 5},
    ],
)
def test_anything_else_is_refused_in_a_sentence(bad):
    with pytest.raises(BadInput) as refusal:
        checked_bars(bad)
    assert str(refusal.value).endswith(".") and len(str(refusal.value)) < 300


def test_mass_flow_is_a_coupling_with_the_overlap_on_its_diagonal():
    q, p = (0.3, 0.4, 0.15, 0.15), (0.4, 0.2, 0.4, 0.0)
    flow = mass_flow(q, p)
    assert [sum(row) for row in flow] == pytest.approx(q)
    assert [sum(column) for column in zip(*flow)] == pytest.approx(p)
    assert [flow[i][i] for i in range(4)] == pytest.approx([min(a, b) for a, b in zip(q, p)])
    assert flow[1][2] == pytest.approx(0.2 * 0.25 / 0.35)


def test_mass_flow_of_equal_laws_moves_nothing():
    flow = mass_flow((0.5, 0.5), (0.5, 0.5))
    assert flow == [[0.5, 0], [0, 0.5]]


def test_mass_flow_figure_writes_names_as_text():
    figure = mass_flow_figure(["<b>", "$x$"], (0.6, 0.4), (0.4, 0.6))
    assert not any("<" in label or "$" in label for label in figure.data[0].node.label)


def test_the_load_script_holds_only_fixed_words():
    assert "#run-view" in load_script()
