"""Measuring small random models: what is counted and recorded, never how long it took."""

from __future__ import annotations

import json

import pytest
import torch

from specdec.models.student import build_student, student_state
from specdec.models.transformers_model import TransformersModel
from specdec.settings import BadInput, Settings
from specdec.timing import __main__ as command
from specdec.timing import compare, costs, overhead, roofline
from specdec.timing.clock import time_run
from specdec.timing.comparison import Comparison
from specdec.timing.overhead import Overhead
from specdec.timing.records import Costs, from_json
from specdec.timing.roofline import Ceilings, Roofline, Shape
from specdec.timing.sharing import Sharing
from specdec.timing.transformers_run import generating_models, generation_config, time_generate

PROMPT = [3, 1, 4, 1, 5]


def settings_of(**values) -> Settings:
    return Settings(chat=False, **values)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("gamma", [0, 4])
def test_generate_writes_as_many_tokens_and_counts_those_after_its_first_step(llama_pair, gamma, temperature):
    run = time_generate(llama_pair(), PROMPT, settings_of(gamma=gamma, temperature=temperature, max_new_tokens=20))
    assert run.tokens == 20
    assert 0 < run.decode_tokens < 20
    assert run.decode_tokens == 19 if gamma == 0 else run.decode_tokens >= 20 - (gamma + 1)
    assert run.tokens_per_round >= 1.0
    assert run.acceptance_rate is None


def test_assisted_generation_drafts_exactly_gamma(llama_pair):
    same = llama_pair(0, 0)
    run = time_generate(same, PROMPT, settings_of(gamma=4, temperature=0.0, max_new_tokens=20))
    assert (run.tokens, run.decode_tokens, run.rounds) == (20, 15, 3)
    ours = time_run(same, PROMPT, settings_of(gamma=4, temperature=0.0, max_new_tokens=20))
    assert (ours.tokens, ours.rounds, ours.acceptance_rate) == (20, 4, 1.0)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_draft_that_can_say_only_some_ids_assists_generate(tiny_llama, pair_of, temperature):
    target, layers = tiny_llama(0), tiny_llama(1)
    draft = build_student(target, student_state(layers), torch.arange(0, 64, 3))
    pair = pair_of(TransformersModel(target, name="a"), TransformersModel(draft, name="b"))
    settings = settings_of(gamma=3, temperature=temperature, max_new_tokens=20)
    assert time_generate(pair, PROMPT, settings).tokens == 20
    assert time_run(pair, PROMPT, settings).tokens == 20


def test_generate_leaves_the_models_and_the_random_state_as_they_were(llama_pair):
    pair = llama_pair()
    kept, state = pair.draft.model.generation_config, torch.random.get_rng_state()
    time_generate(pair, PROMPT, settings_of(max_new_tokens=8))
    assert pair.draft.model.generation_config is kept
    assert torch.equal(torch.random.get_rng_state(), state)
    settings = settings_of(temperature=0.0, max_new_tokens=12)
    before = time_run(pair, PROMPT, settings)
    time_generate(pair, PROMPT, settings)
    after = time_run(pair, PROMPT, settings)
    assert (before.rounds, before.accepted) == (after.rounds, after.accepted)


def test_generate_gets_the_same_sampling_and_ends(llama_pair):
    target = llama_pair().target.model
    settings = settings_of(temperature=0.7, top_k=20, top_p=0.9, max_new_tokens=9)
    config = generation_config(target, frozenset({5, 2}), settings)
    assert (config.do_sample, config.temperature, config.top_k, config.top_p) == (True, 0.7, 20, 0.9)
    assert config.max_new_tokens == 9 and config.eos_token_id == [2, 5]
    assert generation_config(target, frozenset(), settings_of(temperature=0.0)).do_sample is False


def test_what_generate_cannot_do_is_refused(llama_pair, table_pair):
    with pytest.raises(BadInput, match="not with prompt lookup"):
        generating_models(llama_pair(), settings_of(drafter="prompt_lookup"))
    with pytest.raises(BadInput, match="the rule token"):
        generating_models(llama_pair(), settings_of(rule="block"))
    with pytest.raises(BadInput, match="needs a model of transformers"):
        generating_models(table_pair([1.0, 1.0]), settings_of())


def test_all_four_ways_are_compared(llama_pair):
    settings = settings_of(temperature=0.0, max_new_tokens=12)
    *_, last = compare.compare(llama_pair(), ["t3 t1 t4", "t2"], settings, repeats=2, with_transformers=True)
    assert (last.done, last.total) == (16, 16)
    assert last.repeatable is True
    assert len(last.rows) == 4 + 2 * 4
    assert all(last.row(way).timing.tokens == 2 * 2 * 12 for way in range(4))
    assert from_json(Comparison, last.to_json()) == last


def test_costs_are_sampled_and_leave_empty_caches(llama_pair):
    pair = llama_pair()
    grown = list(costs.measure_costs(pair, repeats=3, widths=(1, 2, 5), prefills=(8, 16), context=20))
    assert [one.done for one in grown] == [1, 2, 3]
    last = grown[-1]
    assert [(cost.tokens, cost.seconds.n) for cost in last.target] == [(1, 3), (2, 3), (5, 3)]
    assert [cost.tokens for cost in last.prefill] == [8, 16]
    assert last.draft_step.n == 9
    assert (pair.target.length, pair.draft.length) == (0, 0)
    assert from_json(Costs, last.to_json()) == last


def test_costs_refuse_what_a_model_cannot_hold(llama_pair):
    with pytest.raises(BadInput, match="hold only 256"):
        next(costs.measure_costs(llama_pair(), widths=(1,), prefills=(), context=300))


def test_a_shape_counts_weights_operations_and_bytes(tiny_llama):
    shape = Shape.of(tiny_llama(0))
    layer = 4 * 32 * 32 + 3 * 32 * 48
    assert (shape.body, shape.head) == (2 * layer, 64 * 32)
    assert (shape.layers, shape.width, shape.kv_width, shape.item) == (2, 32, 32, 4)
    assert shape.flops(1, 0, 1) == 2 * (2 * layer + 64 * 32) + 4 * 2 * 32
    assert shape.flops(3, 10, 1) == 2 * 2 * layer * 3 + 2 * 64 * 32 + 4 * 2 * 32 * (30 + 6)
    assert shape.bytes(2, 10) == 4 * (2 * layer + 64 * 32 + 2 * 2 * 32 * 12)


def test_a_tied_head_is_counted_once(tiny_llama):
    assert Shape.of(tiny_llama(0, tie_word_embeddings=True)) == Shape.of(tiny_llama(0))


def test_a_roofline_says_which_ceiling_is_over_a_pass(llama_pair, monkeypatch):
    monkeypatch.setattr(roofline, "measure_ceilings", lambda device, dtype, check: Ceilings(8.0, 10.0, 40.0))
    *_, last = roofline.measure_roofline(llama_pair(), repeats=2, widths=(1, 8), prefills=(64,), context=10)
    assert last.ceilings.ridge == 4.0
    assert [(point.kind, point.tokens, last.bound(point)) for point in last.points] == [
        ("decode", 1, "memory"),
        ("decode", 8, "memory"),
        ("prefill", 64, "arithmetic"),
    ]
    for point in last.points:
        assert point.byte_rate * point.seconds.median == pytest.approx(point.bytes)
        assert point.flop_rate * point.seconds.median == pytest.approx(point.flops)
    assert from_json(Roofline, last.to_json()) == last


def test_ceilings_are_positive_numbers(monkeypatch):
    monkeypatch.setattr(roofline, "BUFFER_BYTES", 2**25)
    monkeypatch.setattr(roofline, "MATRIX_SIZES", {"cpu": (64, 128)})
    found = roofline.measure_ceilings(torch.device("cpu"), torch.float32)
    assert min(found.copy_rate, found.matvec_rate, found.flop_rate) > 0
    assert found.byte_rate == max(found.copy_rate, found.matvec_rate)


def test_overhead_is_measured_in_shares(llama_pair):
    *_, last = overhead.measure_overhead(llama_pair(), ["t1 t2"], settings_of(max_new_tokens=8), repeats=2)
    assert (last.done, last.total) == (2, 2)
    assert last.plain.tokens == last.speculative.tokens == 16
    assert 0 < last.plain.loop_share < 1
    assert last.recording_share.n == 2
    assert from_json(Overhead, last.to_json()) == last


@pytest.fixture
def command_pair(llama_pair, monkeypatch):
    monkeypatch.setattr(command, "load_pair", lambda key, **where: llama_pair())


def test_the_command_prints_a_table_and_writes_the_records(command_pair, tmp_path, capsys):
    prompts, record = tmp_path / "prompts.txt", tmp_path / "record.json"
    prompts.write_text("t1 t2\nt3\n", encoding="utf-8")
    options = f"compare --raw-text --gamma 2 3 --temperature 0 1 --tokens 8 --repeats 2 --prompts {prompts} --json {record}"
    assert command.main(options.split()) == 0
    printed = capsys.readouterr().out
    assert "best gamma: measured" in printed
    assert "transformers_gamma3" in printed and "torch" in printed and "95 % interval" in printed
    written = json.loads(record.read_text(encoding="utf-8"))["comparisons"]
    back = [from_json(Comparison, json.dumps(one)) for one in written]
    assert [one.ways[0].settings.temperature for one in back] == [0.0, 1.0]


def test_the_costs_command_prints_every_width(command_pair, tmp_path, capsys):
    record = tmp_path / "record.json"
    assert command.main(["costs", "--repeats", "1", "--context", "16", "--json", str(record)]) == 0
    assert "t_target(n)" in capsys.readouterr().out
    found = from_json(Costs, record.read_text(encoding="utf-8"))
    assert [cost.tokens for cost in found.prefill] == [16, 64, 128, 256]
    assert found.target[-1].tokens == 64


def test_the_overhead_command_prints_shares(command_pair, tmp_path, capsys):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("t1 t2\n", encoding="utf-8")
    options = f"overhead --raw-text --tokens 8 --repeats 1 --prompts {prompts}"
    assert command.main(options.split()) == 0
    assert "loop, speculative" in capsys.readouterr().out


def test_the_sharing_command_prints_passes_and_runs_at_once(command_pair, tmp_path, capsys):
    prompts, record = tmp_path / "prompts.txt", tmp_path / "record.json"
    prompts.write_text("t1 t2\nt3\n", encoding="utf-8")
    options = f"sharing --raw-text --runs 3 --tokens 8 --repeats 1 --context 16 --prompts {prompts} --json {record}"
    assert command.main(options.split()) == 0
    assert "rows in a target pass" in capsys.readouterr().out
    found = from_json(Sharing, record.read_text(encoding="utf-8"))
    assert [one.runs for one in found.at_once] == [1, 3] and found.at_once[0].sharing == 1
    assert [(one.model, one.rows, one.tokens) for one in found.passes] == [
        ("draft", 1, 1), ("draft", 3, 1), ("target", 1, 1), ("target", 3, 1), ("target", 1, 5), ("target", 3, 5),
    ]  # fmt: skip


def test_the_roofline_command_prints_ceilings(command_pair, capsys, monkeypatch):
    monkeypatch.setattr(roofline, "measure_ceilings", lambda device, dtype, check: Ceilings(8.0, 10.0, 40.0))
    assert command.main(["roofline", "--repeats", "1", "--context", "16"]) == 0
    assert "they meet at 4.0 FLOP/byte" in capsys.readouterr().out


def test_the_command_answers_bad_values_in_a_sentence(command_pair, capsys):
    assert command.main(["compare", "--gamma", "99"]) == 2
    assert "gamma must be a whole number from 0 to 16" in capsys.readouterr().err
