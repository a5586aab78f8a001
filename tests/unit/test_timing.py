"""Measurement on a stub clock: what the numbers mean, with no real time in it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from specdec.models.pairs import Pair
from specdec.settings import BadInput, Settings
from specdec.timing import compare, race
from specdec.timing.clock import TimedModel, time_run
from specdec.timing.comparison import Comparison
from specdec.timing.race import Race
from specdec.timing.records import RunTiming, from_json, pooled
from tests.stub_clock import SlowTable

ONE_IS_CERTAIN = [0.0, 1.0, 0.0]
TWO_IS_CERTAIN = [0.0, 0.0, 1.0]
SECONDS = ("prefill_seconds", "decode_seconds", "draft_seconds", "target_seconds", "drafting_seconds", "verifying_seconds")


def settings_of(**values) -> Settings:
    return Settings(chat=False, **values)


def last_comparison(pair: Pair, settings: Settings, prompts=("t0 t1",), **options) -> Comparison:
    *_, last = compare.compare(pair, prompts, settings, **options)
    return last


def test_rates_with_and_without_prefill_are_two_numbers():
    replayed = RunTiming(190, 4.409816 - 3.751546, 189, 3.751546, 189, 0, 0, 0)
    assert replayed.end_to_end_rate == pytest.approx(43.09, abs=0.005)
    assert replayed.decode_rate == pytest.approx(50.38, abs=0.005)
    stubbed = RunTiming(101, 0.5, 100, 2.0, 100, 0, 0, 0)
    assert stubbed.end_to_end_rate == pytest.approx(40.4)
    assert stubbed.decode_rate == pytest.approx(50.0)


def test_a_timed_run_tells_prefill_from_decoding_and_never_counts_the_prompt(stub_pair):
    run = time_run(stub_pair(ONE_IS_CERTAIN, prefill=0.5), [0, 1, 1, 1], settings_of(gamma=0, max_new_tokens=100))
    assert (run.tokens, run.decode_tokens, run.rounds) == (100, 100, 100)
    assert run.prefill_seconds == pytest.approx(0.5)
    assert run.decode_seconds == pytest.approx(2.0)
    assert run.decode_rate == pytest.approx(50.0)
    assert run.end_to_end_rate == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("step", "draft", "speedup"),
    [
        (0.005, ONE_IS_CERTAIN, 2.5),
        (0.015, ONE_IS_CERTAIN, 1.25),
        (0.005, TWO_IS_CERTAIN, 0.5),
        (0.015, TWO_IS_CERTAIN, 0.25),
    ],
)
def test_the_draft_model_s_time_is_in_the_speedup(stub_pair, step, draft, speedup):
    settings = settings_of(gamma=4, max_new_tokens=100)
    pair = stub_pair(ONE_IS_CERTAIN, draft, step=step)
    plain, fast = (time_run(pair, [0], settings.changed(gamma=gamma)) for gamma in (0, 4))
    assert plain.tokens == fast.tokens == 100
    # At alpha 0 the rounds at the end of the budget have no room for four drafts, so they cost less.
    tolerance = 1e-9 if draft == ONE_IS_CERTAIN else 0.02
    assert fast.decode_rate / plain.decode_rate == pytest.approx(speedup, rel=tolerance)


def test_seconds_are_split_into_draft_target_and_the_rest(stub_pair):
    run = time_run(stub_pair(ONE_IS_CERTAIN, ONE_IS_CERTAIN), [0], settings_of(gamma=4, max_new_tokens=100))
    assert (run.rounds, run.drafted, run.draft_steps) == (20, 80, 80)
    assert run.draft_seconds == pytest.approx(80 * 0.005)
    assert run.target_seconds == pytest.approx(20 * 0.020)
    assert run.drafting_seconds == pytest.approx(80 * 0.005)
    assert run.verifying_seconds == pytest.approx(20 * 0.020)
    assert run.loop_seconds == pytest.approx(0, abs=1e-9)
    assert run.loop_share == pytest.approx(0, abs=1e-9)


def test_the_stopwatch_leaves_the_model_s_answers_alone(stub):
    timed = TimedModel(SlowTable([0.2, 0.8], stub, 0.02, 0.3))
    timed.prefill(torch.tensor([0, 1]))
    assert timed.extend(torch.tensor([1])).softmax(-1).tolist()[0] == pytest.approx([0.2, 0.8])
    assert (timed.length, timed.passes) == (3, 1)
    assert (timed.seconds, timed.prefill_seconds) == (pytest.approx(0.02), pytest.approx(0.3))
    timed.rewind(1)
    assert timed.length == 1


def test_drafts_are_counted_not_configured(stub_pair):
    run = time_run(stub_pair(ONE_IS_CERTAIN, ONE_IS_CERTAIN), [0], settings_of(gamma=5, max_new_tokens=8, temperature=0.0))
    assert (run.tokens, run.rounds) == (8, 2)
    assert run.drafted == 5 + 1
    assert run.accepted / run.drafted == 1.0
    assert run.drafted_per_round == 3.0


def test_rounds_without_drafts_are_not_rejections(stub_pair):
    settings = settings_of(drafter="prompt_lookup", gamma=3, max_new_tokens=1)
    run = time_run(stub_pair(ONE_IS_CERTAIN), [0, 2], settings)
    assert (run.rounds, run.drafted, run.tested, run.accepted) == (1, 0, 0, 0)
    assert run.acceptance_rate is None
    assert run.target_seconds == pytest.approx(0.020)


def test_acceptance_has_one_definition():
    run = RunTiming(11, 0.0, 11, 1.0, 4, drafted=14, tested=9, accepted=7)
    assert run.acceptance_rate == pytest.approx(7 / 9)
    assert run.tokens_per_round == 2.75
    assert run.drafted_per_round == 3.5


def test_sums_are_pooled_and_not_means_of_means():
    runs = [RunTiming(90, 0.0, 90, 1.0, 30, 0, 0, 0), RunTiming(4, 0.0, 4, 1.0, 4, 0, 0, 0)]
    assert pooled(runs).tokens_per_round == pytest.approx(2.765, abs=0.0005)
    assert sum(run.tokens_per_round for run in runs) / 2 == 2.0


def test_what_one_run_does_not_tell_the_sum_does_not_claim():
    known, unknown = RunTiming(4, 0.0, 4, 1.0, 4, 0, 0, 0), RunTiming(4, 0.0, 4, 1.0, 2, None, None, None)
    assert pooled([known, unknown]).drafted is None
    assert pooled([known, unknown]).acceptance_rate is None
    assert pooled([known, unknown]).rounds == 6


def test_a_comparison_grows_prompt_by_prompt_and_turns_its_order_round(stub_pair):
    pair = stub_pair(ONE_IS_CERTAIN, ONE_IS_CERTAIN)
    grown = list(compare.compare(pair, ["t0", "t0 t1"], settings_of(max_new_tokens=10), repeats=2))
    assert [(one.done, one.total) for one in grown] == [(2, 8), (4, 8), (6, 8), (8, 8)]
    assert [sample.way for sample in grown[-1].samples] == [0, 1, 0, 1, 1, 0, 1, 0]
    assert [sample.seed for sample in grown[-1].samples] == [0] * 4 + [1] * 4
    assert [way.key for way in grown[-1].ways] == ["plain", "gamma4"]


def test_a_comparison_predicts_what_it_measures_when_only_the_models_take_time(stub_pair):
    last = last_comparison(stub_pair([0.0, 0.5, 0.5], [0.0, 0.3, 0.7]), settings_of(max_new_tokens=60), repeats=5)
    result = last.result(last.way("gamma4"), last.way("plain"))
    assert result.measured_over_predicted == pytest.approx(1.0, abs=1e-6)
    assert result.prediction.cost_ratio == pytest.approx(0.25)
    assert result.prediction.verify_ratio == pytest.approx(1.0)
    assert result.speedup.n == 5


def test_repeats_do_not_help_one_another(stub_pair):
    pair = stub_pair([0.1, 0.6, 0.3], [0.2, 0.4, 0.4])
    settings = settings_of(max_new_tokens=40)
    alone, *again = (time_run(pair, [0, 1], settings) for _ in range(5))
    for run in again:
        assert replace(run, **dict.fromkeys(SECONDS, 0.0)) == replace(alone, **dict.fromkeys(SECONDS, 0.0))
        assert [getattr(run, name) for name in SECONDS] == pytest.approx([getattr(alone, name) for name in SECONDS])
    last = last_comparison(pair, settings_of(max_new_tokens=40, temperature=0.0), repeats=5)
    assert last.repeatable is True
    counts = {(s.timing.drafted, s.timing.accepted, s.timing.tokens) for s in last.samples if s.way == 1}
    assert len(counts) == 1


def test_a_comparison_survives_json(stub_pair):
    last = last_comparison(stub_pair(ONE_IS_CERTAIN, ONE_IS_CERTAIN), settings_of(max_new_tokens=10), repeats=2)
    assert from_json(Comparison, last.to_json()) == last
    with pytest.raises(BadInput, match="not a Comparison record"):
        from_json(Comparison, "{}")


def test_a_race_has_two_lanes_on_clocks_that_stand_still_between_rounds(stub_pair, stub):
    for so_far in race.race(stub_pair([0.1, 0.6, 0.3], TWO_IS_CERTAIN), "t0 t1", settings_of(max_new_tokens=12)):
        stub.now += 10.0  # whoever watches takes their time
    assert so_far.plain.tokens == so_far.speculative.tokens == 12
    assert so_far.plain.seconds == pytest.approx(12 * 0.020)
    assert so_far.plain.decode_rate == pytest.approx(50.0)
    for lane in (so_far.plain, so_far.speculative):
        assert lane.stop_reason == "length"
        for before, after in zip(lane.blocks, lane.blocks[1:]):
            assert before.finished == pytest.approx(after.started)
    block = so_far.speculative.blocks[0]
    assert [token.fate for token in block.tokens].count("added") == 1
    assert len(block.tokens) == 5
    assert from_json(Race, so_far.to_json()) == so_far
