"""Figures, captions and verdicts on speed, from records whose numbers can be checked by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from specdec.exactness.theory import best_gamma
from specdec.settings import BadInput
from tests.made_timings import TOKENS, made_comparison, made_costs, made_race, made_roofline, made_sweep
from visualizations.figures import palette
from visualizations.figures.gamma_sweep import TRACES, WhatIf, gamma_sweep, measured_what_if
from visualizations.figures.pass_cost import pass_time, throughput
from visualizations.figures.published import LEVIATHAN_POINTS, SPEC_BENCH_POINTS
from visualizations.figures.race_lanes import race_lanes
from visualizations.figures.roofline import roofline_figure, verification_of
from visualizations.figures.time_spent import splits_of, time_spent
from visualizations.figures.timing_style import MEASURED, PREDICTED, PUBLISHED, WHAT_IF, WORK
from visualizations.is_it_faster.captions import pass_caption, roofline_caption, sweep_caption, time_caption
from visualizations.is_it_faster.form import PROMPTS, read_runs, read_settings
from visualizations.is_it_faster.race import race_value
from visualizations.is_it_faster.records import recorded
from visualizations.is_it_faster.tab import _recorded_values
from visualizations.is_it_faster.what_if import what_if_value
from visualizations.is_it_faster.words import comparison_report, formula_report, verdict_text

DRAFTING = 1
SETTINGS = ["smollm2-135m+student", 4, 0.0, "token", "model", 64]
RUNS = [["code"], 3, False]


def test_time_is_split_into_draft_target_and_loop_beside_the_formula() -> None:
    plain, plain_formula, fast, fast_formula = splits_of(made_comparison(), DRAFTING)
    assert (plain.draft, plain.target, plain.loop) == pytest.approx((0.0, 1.95, 0.05))
    assert (plain_formula.target, plain_formula.seconds) == pytest.approx((2.0, 2.0))
    assert (fast.draft, fast.target, fast.loop) == pytest.approx((40 * 4 * 0.005, 40 * 0.024, 0.04))
    assert (fast_formula.draft, fast_formula.target, fast_formula.loop) == pytest.approx((0.8, 0.96, 0.0))


def test_bars_of_time_add_up_to_the_seconds_of_the_run() -> None:
    figure = time_spent(made_comparison(), DRAFTING)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    sums = [sum(trace.x[row] or 0 for trace in bars) for row in range(4)]
    assert sums == pytest.approx([2.0, 2.0, 1.8, 1.76])
    assert "1.80 s" in time_caption(made_comparison(), DRAFTING)


def test_a_run_whose_passes_were_not_timed_is_one_bar() -> None:
    comparison = made_comparison()
    rows = tuple(
        replace(row, timing=replace(row.timing, draft_seconds=None, target_seconds=None)) if row.prompt is None else row
        for row in comparison.rows
    )
    plain, _, fast, _ = splits_of(replace(comparison, rows=rows), DRAFTING)
    assert (plain.whole, fast.whole) == pytest.approx((2.0, 1.8))


def test_pass_time_and_throughput_are_the_costs() -> None:
    costs = made_costs()
    line = next(trace for trace in pass_time(costs, 4).data if trace.name and "median" in trace.name)
    assert dict(zip(line.x, line.y))[5] == pytest.approx(24.0)
    dashed = next(trace for trace in pass_time(costs, 4).data if trace.name and trace.name.startswith("as many"))
    assert dashed.y[1] == pytest.approx(64 * 20.0)
    rates = throughput(costs, 4).data[0]
    assert dict(zip(rates.x, rates.y))[5] == pytest.approx(5 / 0.024)
    assert "v = 1.20" in pass_caption(costs, 4)


def test_the_roof_is_the_lower_of_both_ceilings() -> None:
    figure = roofline_figure(made_roofline(), 4)
    roof = figure.data[0]
    assert roof.x[1] == pytest.approx(10.0)  # 100 GFLOP/s over 10 GB/s
    assert roof.y[0] == pytest.approx(10 * roof.x[0])
    assert (roof.y[1], roof.y[2]) == (pytest.approx(100.0), pytest.approx(100.0))
    one = next(trace for trace in figure.data if trace.name == "decoding")
    assert (one.x[0], one.y[0]) == (pytest.approx(0.5), pytest.approx(2.5))
    assert verification_of(made_roofline(), 4).tokens == 5
    assert "50 % of the memory's ceiling" in roofline_caption(made_roofline(), 4)


def test_the_sweep_shows_each_measured_length_and_marks_the_best() -> None:
    sweep = made_sweep()
    figure = gamma_sweep(sweep)
    measured, best = figure.data[TRACES["measured"]], figure.data[TRACES["best_measured"]]
    assert list(measured.x) == [1, 2, 4, 8]
    assert dict(zip(measured.x, measured.y))[4] == pytest.approx(2.0 / 1.8)
    assert list(best.x) == [sweep.best_gamma] == [1]
    assert [trace.visible for trace in figure.data[5:]] == [False, False]
    assert f"γ = {sweep.best_gamma}" in sweep_caption(sweep)


@pytest.mark.parametrize(("alpha", "c", "v"), [(0.7, 0.05, 1.0), (0.9, 0.1, 1.0), (0.5, 0.5, 1.0), (0.8, 0.2, 1.4), (0.99, 0.0, 1.0)])
def test_what_if_agrees_with_the_theory(alpha: float, c: float, v: float) -> None:
    what_if = WhatIf(alpha, c, v)
    gamma, speedup = best_gamma(alpha, c, v)
    assert what_if.best == (gamma, speedup)
    curve = what_if.curve(32)
    assert curve[gamma] == pytest.approx(speedup) and max(curve) == pytest.approx(speedup)
    figure = gamma_sweep(made_sweep(), what_if, published=True)
    assert list(figure.data[TRACES["best_what_if"]].x) == [gamma]
    assert all(figure.data[index].visible for index in TRACES["published"])


def test_the_sliders_start_at_what_was_measured() -> None:
    sweep = made_sweep()
    start = measured_what_if(sweep)
    assert (start.alpha, start.cost_ratio) == (pytest.approx(0.8), pytest.approx(0.25))
    assert start.verify_ratio == pytest.approx(1.05)  # at the best gamma, 1
    assert what_if_value(sweep)["start"] == {"alpha": 0.8, "c": 0.25, "v": 1.05}


def test_published_points_have_their_numbers() -> None:
    assert len(LEVIATHAN_POINTS) == 12
    largest = [point for point in LEVIATHAN_POINTS if point.name.startswith("T5-large")]
    assert [point.speedup for point in largest] == [1.7, 1.4, 2.2, 1.7]
    assert {point.speedup for point in SPEC_BENCH_POINTS} == {1.52, 1.66, 1.71, 2.10, 2.36}


def test_the_report_gives_every_number_its_definition() -> None:
    report = comparison_report(made_comparison(), DRAFTING)
    assert report["verdict"].startswith("Faster here: 1.11×")
    assert all(fact["is"] for fact in report["facts"])
    values = {fact["name"]: fact["value"] for fact in report["facts"]}
    assert values["α, acceptance rate"] == "0.80" and values["c, cost of a draft"] == "0.250"
    terms = [fact["value"] for fact in formula_report(made_comparison(), DRAFTING)["facts"]]
    assert terms[:2] == ["4.00 × 5.00 + 24.0 = 44.0 ms", "2.50 × 20.0 = 50.0 ms"]


def test_verdicts_are_honest() -> None:
    slow = comparison_report(made_comparison(loop=2.0), DRAFTING)
    assert slow["verdict"].startswith("Slower here") and "between the passes" in slow["verdict"]
    long_draft = comparison_report(made_comparison((8,)), DRAFTING)
    assert "Because c = 0.25, α = 0.80" in long_draft["verdict"]
    few = comparison_report(made_comparison(repeats=2), DRAFTING)
    assert few["verdict"].startswith("Too few runs to tell: 2 pairs")
    none = comparison_report(made_comparison(drafted=False), DRAFTING)
    assert none["verdict"].startswith("No draft was exercised")
    result = made_comparison().results[0]
    noisy = replace(result.verdict, key="too_noisy", low=0.9, high=1.3)
    assert verdict_text(noisy, result.speedup).startswith("Too noisy to tell")


def test_a_race_keeps_its_timestamps_and_what_became_of_each_token() -> None:
    value = race_value(made_race())
    plain, fast = value["lanes"]
    assert [len(lane["blocks"]) for lane in (plain, fast)] == [12, 6]
    assert plain["blocks"][1][:4] == [0.02, 0.02, 0.039, 0.04]
    assert [kind for kind, _, _ in fast["blocks"][0][4]] == ["accepted", "rejected", "discarded", "replaced"]
    assert plain["blocks"][3][4] == [["plain", "␣<b>blue</b>", " <b>blue</b>"]]
    assert "ratio 1.33" in value["line"] and race_value(made_race(), running=True)["line"] == ""
    assert race_value(None)["lanes"] == []


def test_the_race_is_a_still_figure_too() -> None:
    bars = {trace.name: trace for trace in race_lanes(made_race()).data}
    assert [len(trace.x) for trace in bars.values()] == [6, 6, 6, 18]
    passes = bars["a pass of the target"]
    assert (passes.base[12], passes.x[12]) == (pytest.approx(0.008), pytest.approx(0.021))
    assert "&lt;b&gt;" in passes.text[3]


def test_noise_is_told_where_lengths_are_ranked() -> None:
    sweep = made_sweep()
    assert "Within the noise" not in sweep_caption(sweep)
    points = [replace(p, result=replace(p.result, speedup=replace(p.result.speedup, low=0.9, high=2.0))) for p in sweep.points]
    assert "Within the noise of it: γ = 2, 4, 8" in sweep_caption(replace(sweep, points=tuple(points)))


def test_figures_are_strict_json_and_colours_are_seen_on_both_pages() -> None:
    for figure in (time_spent(made_comparison(), 1), pass_time(made_costs(), 4), roofline_figure(made_roofline(), 4), gamma_sweep(made_sweep())):
        json.loads(figure.to_json(), parse_constant=lambda name: pytest.fail(name))
    for color in (MEASURED, PREDICTED, WHAT_IF, PUBLISHED, *(work.color for work in WORK.values())):
        assert min(palette.contrast(color, page) for page in (palette.LIGHT_PAGE, palette.DARK_PAGE)) >= 3


def test_what_the_tab_opens_with_is_there_and_can_be_shown() -> None:
    kept = recorded()
    assert kept.race.plain.blocks and kept.race.speculative.blocks
    assert kept.comparison.done == kept.comparison.total and kept.sweep.points and kept.roofline.points
    assert all(isinstance(value, dict) for value in _recorded_values())


def test_what_a_visitor_may_ask_for() -> None:
    choice, settings = read_settings(SETTINGS)
    assert (choice.key, settings.gamma, settings.max_new_tokens) == ("smollm2-135m+student", 4, 64)
    runs = read_runs([["story", "code"], 3.0, True])
    assert len(runs.prompts) == 2 and runs.prompts[0].startswith("Write a Python") and runs.repeats == 3
    assert len(PROMPTS) == 6 and TOKENS == 100


@pytest.mark.parametrize(
    ("place", "value", "named"),
    [(0, "custom", "pair"), (0, ["x"], "pair"), (1, 0, "gamma"), (1, 3.5, "gamma"), (1, 17, "gamma"), (2, -1, "temperature"),
     (2, None, "temperature"), (3, "lenient", "rule"), (4, "magic", "drafter"), (5, 1e12, "max_new_tokens"), (5, 257, "max_new_tokens")],
)  # fmt: skip
def test_settings_that_cannot_be_used_are_refused_by_name(place: int, value: object, named: str) -> None:
    with pytest.raises(BadInput, match=f"^{named} must be"):
        read_settings([*SETTINGS[:place], value, *SETTINGS[place + 1 :]])


@pytest.mark.parametrize(
    ("place", "value", "named"),
    [(0, [], "prompts"), (0, None, "prompts"), (0, ["code", "<b>"], "prompts"), (0, "code", "prompts"), (0, [["code"]], "prompts"),
     (1, 0, "repeats"), (1, 21, "repeats"), (1, 2.5, "repeats"), (1, None, "repeats"), (2, "yes", "with_transformers")],
)  # fmt: skip
def test_runs_that_cannot_be_made_are_refused_by_name(place: int, value: object, named: str) -> None:
    with pytest.raises(BadInput, match=f"^{named} must be"):
        read_runs([*RUNS[:place], value, *RUNS[place + 1 :]])
