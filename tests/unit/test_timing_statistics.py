"""What may be concluded from timed runs, and what not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from specdec.exactness.theory import expected_tokens, predicted_speedup
from specdec.settings import BadInput, Settings
from specdec.timing import compare, statistics
from specdec.timing.comparison import Sweep, Way
from specdec.timing.prompts import evenly, own_prompts, read_prompts
from specdec.timing.records import Costs, Hardware, PassCost, RunTiming, Spread, from_json
from specdec.timing.report import comparison_text, verdict_text

HERE = Hardware("cpu", "a processor", 2, 1, "2", "5", "3", "Linux")


def runs(seconds: list[float], tokens: int = 100, **counts) -> list[RunTiming]:
    counted = dict(rounds=50, drafted=200, tested=100, accepted=50) | counts
    return [RunTiming(tokens, 0.1, tokens, second, **counted) for second in seconds]


def costs_of(draft: float | None, *target: tuple[int, float]) -> Costs:
    passes = tuple(PassCost(n, Spread(seconds, seconds, seconds, 5)) for n, seconds in target)
    step = None if draft is None else Spread(draft, draft, draft, 5)
    return Costs(HERE, "a+b", "float32", 128, 4, step, passes, (), 5, 5)


def verdict(fast: list[RunTiming], slow: list[RunTiming], costs: Costs | None = None):
    run = statistics.pooled(fast)
    prediction = statistics.prediction_of(run, costs) if costs else None
    return statistics.verdict_of(statistics.ratio_of(fast, slow), run, prediction)


def test_the_headline_is_pooled_and_differs_from_the_mean_of_ratios():
    fast = runs([1.0], tokens=90) + runs([1.0], tokens=4)
    slow = runs([3.0], tokens=90) + runs([1.0], tokens=4)
    ratio = statistics.ratio_of(fast, slow)
    assert ratio.pooled == pytest.approx((94 / 2) / (94 / 4))
    assert ratio.mean == pytest.approx((3 + 1) / 2)
    assert ratio.n == 2


def test_the_spread_is_that_of_the_pairs():
    ratio = statistics.ratio_of(runs([1.0] * 5), runs([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert (ratio.q1, ratio.median, ratio.q3) == (2.0, 3.0, 4.0)
    assert ratio.pooled == pytest.approx(3.0)
    assert ratio.low < 3.0 < ratio.high


def test_a_run_that_ended_in_its_first_step_is_no_pair():
    ended = RunTiming(1, 0.1, 0, 0.0, 0, None, None, None)
    assert statistics.ratio_of([ended], runs([1.0])) is None
    assert statistics.ratio_of([ended, *runs([1.0])], runs([1.0, 2.0])).n == 1
    with pytest.raises(ValueError, match="1 and 2"):
        statistics.ratio_of(runs([1.0]), runs([1.0, 1.0]))


def test_one_pair_has_no_interval_and_no_verdict():
    ratio = statistics.ratio_of(runs([1.0]), runs([2.0]))
    assert (ratio.low, ratio.high) == (None, None)
    assert verdict(runs([1.0]), runs([2.0])).key == "too_noisy"


@pytest.mark.parametrize(
    ("fast", "slow", "key"),
    [
        ([1.0, 1.1, 0.9, 1.0, 1.0], [2.0, 2.1, 1.9, 2.0, 2.0], "faster"),
        ([2.0, 2.1, 1.9, 2.0, 2.0], [1.0, 1.1, 0.9, 1.0, 1.0], "slower"),
        ([1.0, 1.4, 0.8, 1.2, 1.0], [1.2, 1.0, 1.1, 0.9, 1.0], "too_noisy"),
        ([1.0, 1.0, 1.0, 1.0, 5.0], [3.0, 3.0, 9.0, 1.5, 6.0], "too_noisy"),
        ([1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], "too_noisy"),
    ],
    ids=["faster", "slower", "holds-1", "too-wide", "too-few"],
)
def test_the_verdict_follows_the_interval(fast, slow, key):
    assert verdict(runs(fast), runs(slow)).key == key


def test_a_run_that_drafted_nothing_shows_nothing():
    idle = runs([1.0] * 5, rounds=100, drafted=0, tested=0, accepted=0)
    found = verdict(idle, runs([2.0] * 5))
    assert found.key == "nothing_drafted"
    assert found.alpha is None
    assert "nothing was measured" in verdict_text(found)


@pytest.mark.parametrize(
    ("draft", "verify", "because"),
    [(0.009, 0.010, "cost_ratio"), (0.001, 0.030, "verify_ratio"), (0.0001, 0.010, "loop")],
)
def test_slower_says_why(draft, verify, because):
    found = verdict(runs([2.0] * 5), runs([1.0] * 5), costs_of(draft, (1, 0.010), (5, verify)))
    assert (found.key, found.because) == ("slower", because)
    assert found.cost_ratio == pytest.approx(draft / 0.010)
    assert found.break_even == pytest.approx(4 * draft / 0.010 + verify / 0.010)


def test_the_prediction_is_the_seed_formula_in_its_own_terms():
    costs = costs_of(0.002, (1, 0.010), (5, 0.012))
    found = statistics.prediction_of(runs([1.0], tokens=100)[0], costs)
    assert found.with_drafts == pytest.approx(4 * 0.002 + 0.012)
    assert found.plain == pytest.approx(2 * 0.010)
    assert found.speedup == pytest.approx(predicted_speedup(2.0, 4, 0.2, 1.2))
    assert statistics.prediction_of(runs([1.0], drafted=None)[0], costs) is None


def test_target_seconds_lie_on_lines_between_the_measured_widths():
    costs = costs_of(None, (1, 0.010), (5, 0.014), (9, 0.030))
    assert [costs.target_seconds(n) for n in (0.5, 1, 3, 5, 7, 9, 20)] == pytest.approx(
        [0.010, 0.010, 0.012, 0.014, 0.022, 0.030, 0.030]
    )
    assert costs.cost_ratio == 0
    assert costs.verify_ratio(4) == pytest.approx(1.4)


def test_unequal_counts_at_temperature_0_are_noticed():
    greedy = Way("gamma4", "specdec", Settings(temperature=0.0))
    sample = compare.Sample(0, 0, 0, 0, runs([1.0])[0])
    other = replace(sample, repeat=1, timing=replace(sample.timing, accepted=49))
    assert statistics.repeatable([greedy], [sample]) is None
    assert statistics.repeatable([greedy], [sample, replace(sample, repeat=1)]) is True
    assert statistics.repeatable([greedy], [sample, other]) is False
    sampled = replace(greedy, settings=Settings(temperature=1.0))
    assert statistics.repeatable([sampled], [sample, other]) is None


def test_every_way_meets_plain_decoding_and_its_counterpart():
    ways = compare.ways_of(Settings(), [2, 4], with_transformers=True)
    keys = [way.key for way in ways]
    assert keys[:3] == ["plain", "gamma2", "gamma4"]
    assert keys[3:] == ["transformers_plain", "transformers_gamma2", "transformers_gamma4"]
    assert statistics.opponents(ways) == [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (0, 3), (1, 4), (2, 5)]
    with pytest.raises(BadInput, match="gamma must be at least 1"):
        compare.ways_of(Settings(gamma=0), None, with_transformers=False)


def test_a_sweep_has_a_point_for_each_gamma_and_a_curve(table_pair):
    pair = table_pair([0.1, 0.6, 0.3], [0.2, 0.4, 0.4])
    settings = Settings(chat=False, max_new_tokens=12)
    *_, last = compare.sweep(pair, ["t0", "t1 t2"], settings, gammas=(3, 1), repeats=2)
    assert [point.gamma for point in last.points] == [1, 3]
    assert [point.gamma for point in last.curve] == [0, 1, 2, 3]
    assert last.curve[0].speedup == 1.0
    costs = last.comparison.costs
    expected = predicted_speedup(expected_tokens(last.alpha, 2), 2, costs.cost_ratio, costs.verify_ratio(2))
    assert last.curve[2].speedup == pytest.approx(expected)
    assert last.best_gamma in (0, 1, 3)
    assert from_json(Sweep, last.to_json()) == last
    text = comparison_text(last.comparison)
    assert "gamma3 / plain" in text and "a mean of means" in text


def test_prompt_lookup_is_compared_without_a_draft_model(table_pair):
    pair = table_pair([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    settings = Settings(chat=False, max_new_tokens=12, drafter="prompt_lookup", temperature=0.0)
    *_, last = compare.compare(pair, ["t0 t1 t2 t0"], settings, repeats=2)
    result = last.result(last.way("gamma4"), last.way("plain"))
    assert result.verdict.alpha == 1.0
    assert last.costs.draft_step is None
    assert result.prediction.cost_ratio == 0.0
    assert math.isfinite(result.prediction.speedup)


def test_prompts_come_from_lines_or_from_turns(tmp_path):
    lines = tmp_path / "prompts.txt"
    lines.write_text("one\n\ntwo\nthree\nfour\n", encoding="utf-8")
    assert read_prompts(lines) == ["one", "two", "three", "four"]
    assert read_prompts(lines, 2) == ["one", "three"]
    questions = tmp_path / "question.jsonl"
    questions.write_text('{"question_id": 1, "turns": ["a", "b"]}\n{"prompt": "c"}\n', encoding="utf-8")
    assert read_prompts(questions) == ["a", "c"]
    assert len(own_prompts()) >= 5
    assert evenly("abcdef", 4) == ["a", "b", "d", "e"]


@pytest.mark.parametrize("line", ["[]", "{}", "not json", '{"turns": []}', '{"turns": [1]}'])
def test_a_line_without_a_prompt_is_named(tmp_path, line):
    questions = tmp_path / "question.jsonl"
    questions.write_text(f'{{"prompt": "fine"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="Line 2 of .*question.jsonl"):
        read_prompts(questions)


def test_a_missing_or_empty_file_is_named(tmp_path):
    with pytest.raises(BadInput, match="can't be read"):
        read_prompts(tmp_path / "nowhere.txt")
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    with pytest.raises(BadInput, match="holds no prompt"):
        read_prompts(tmp_path / "empty.txt")
