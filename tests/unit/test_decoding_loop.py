"""One speculative loop: caches, lengths, greedy laws, seeds, and what a fault leaves behind."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from specdec.decoding.probabilities import probabilities
from specdec.models.table import TableModel
from specdec.models.transformers_model import TransformersModel
from specdec.recording import decode, run, stream
from specdec.settings import EXACT_RULES, BadInput, Settings
from specdec.trace.trace import Trace

PROMPT = [3, 1, 4, 1, 5]


def ids_of(rounds) -> list[int]:
    return [token for round_ in rounds for token in round_.emitted]


def greedy(**values) -> Settings:
    return Settings(**{"temperature": 0, "max_new_tokens": 40} | values)


@pytest.mark.parametrize("rule", EXACT_RULES)
@pytest.mark.parametrize("gamma", [1, 2, 5, 8])
def test_greedy_speculation_writes_the_plain_text(llama_pair, rule, gamma):
    pair = llama_pair(0, 1)
    assert ids_of(run(pair, PROMPT, greedy(gamma=gamma, rule=rule))) == ids_of(run(pair, PROMPT, greedy(gamma=0)))


@pytest.mark.parametrize("gamma", [1, 4, 8])
def test_greedy_text_does_not_depend_on_the_seed(llama_pair, gamma):
    pair = llama_pair(0, 1)
    texts = {tuple(ids_of(run(pair, PROMPT, greedy(gamma=gamma, seed=seed)))) for seed in (0, 1, 2**32 - 1)}
    assert len(texts) == 1


@pytest.mark.parametrize("temperature", [1e-4, 1e-9, 1e-40])
@pytest.mark.parametrize("rule", EXACT_RULES)
def test_a_tiny_temperature_runs_without_nan(llama_pair, rule, temperature):
    pair = llama_pair(0, 1)
    settings = greedy(temperature=temperature, rule=rule)
    for round_ in run(pair, PROMPT, settings):
        assert round_.target_probs.isfinite().all() and round_.proposal.probs.isfinite().all()
        assert round_.verdict.next_probs.isfinite().all()


def test_laws_at_temperature_zero_are_one_hot(llama_pair):
    for round_ in run(llama_pair(0, 1), PROMPT, greedy()):
        for laws in (round_.target_probs, round_.proposal.probs):
            assert torch.equal(laws.amax(-1), torch.ones(len(laws))) and torch.equal(laws.sum(-1), torch.ones(len(laws)))


@pytest.mark.parametrize("drafter", ["model", "prompt_lookup"])
@pytest.mark.parametrize("gamma", [0, 3])
def test_of_equal_maxima_the_lowest_id_is_taken_plain_and_speculative(table_pair, drafter, gamma):
    law = [0.1, 0.1, 0.25, 0.1, 0.1, 0.25, 0.1]
    pair = table_pair(law, [1, 0, 0, 0, 0, 1, 0])
    assert ids_of(run(pair, [1, 2, 1, 2, 1, 2], greedy(gamma=gamma, drafter=drafter, max_new_tokens=8))) == [2] * 8


@pytest.mark.parametrize("seed", range(5))
def test_keeping_one_id_is_greedy_whatever_the_seed(llama_pair, seed):
    pair = llama_pair(0, 1)
    one = greedy(temperature=1.0, top_k=1, seed=seed)
    assert ids_of(run(pair, PROMPT, one)) == ids_of(run(pair, PROMPT, greedy(gamma=0)))


class ByPlace(TableModel):
    """A model whose logits depend on the place alone: place i has row i of a list that starts anew at its end."""

    def __init__(self, rows):
        super().__init__(torch.ones(rows.shape[-1]))
        self.rows = rows

    def extend(self, tokens):
        first = self.length
        self.prefill(tokens)
        return self.rows[torch.arange(first, self.length) % len(self.rows)]


@pytest.mark.parametrize("sampling", [{"top_p": 0.73}, {"top_k": 300}, {"top_k": 400, "top_p": 0.9}], ids=str)
def test_speculation_emits_no_id_that_plain_decoding_cannot(pair_of, sampling):
    """Places full of ties beside nearly flat ones: which of the tied ids stay may not hang on the neighbour."""
    tied = torch.full((2000,), -30.0)
    tied[:10], tied[10:610] = 5.0, 0.0
    flat = torch.randn(2000, generator=torch.Generator().manual_seed(0)) * 0.01
    rows = torch.stack([tied, flat])
    settings = Settings(gamma=1, max_new_tokens=2000, **sampling)
    possible = [set(probabilities(row, settings.target_sampling).nonzero().flatten().tolist()) for row in rows]
    ids = ids_of(run(pair_of(ByPlace(rows), ByPlace(rows)), [0], settings))
    impossible = [id for place, id in enumerate(ids) if id not in possible[place % 2]]
    assert len(ids) == 2000 and impossible == []


def broken_rows(fault: str) -> torch.Tensor:
    rows = torch.randn(40, 50, generator=torch.Generator().manual_seed(2))
    rows[2:] = {"one NaN": rows[2:], "all NaN": torch.nan, "+inf": rows[2:], "all -inf": -torch.inf}[fault]
    if fault in ("one NaN", "+inf"):
        rows[2:, 7] = float(fault.removeprefix("one "))
    return rows


@pytest.mark.parametrize("values", [{"temperature": 0}, {}, {"top_k": 5}, {"top_p": 0.8}], ids=str)
@pytest.mark.parametrize("fault", ["one NaN", "all NaN", "+inf", "all -inf"])
@pytest.mark.parametrize(("gamma", "who"), [(0, "The target"), (3, "The target"), (3, "The draft")])
def test_logits_that_are_no_numbers_end_the_run_with_a_sentence_and_record_nothing_false(
    pair_of, values, fault, gamma, who
):
    """The faulty model is sound at the first two places and broken from the third on."""
    sound = torch.randn(40, 50, generator=torch.Generator().manual_seed(2))
    target = ByPlace(broken_rows(fault) if who == "The target" else sound)
    draft = ByPlace(broken_rows(fault) if who == "The draft" else sound)
    target.name, draft.name = "The target", "The draft"
    pair = pair_of(target, draft)
    settings = Settings(gamma=gamma, max_new_tokens=10, **values)
    traces = stream(pair, "t0", settings.changed(chat=False))
    last = None
    with pytest.raises(BadInput, match=rf"{who} gave logits .* for token [123] of the output"):
        for last in traces:
            pass
    if last is not None:
        assert Trace.from_json(last.to_json()).output.ids == last.output.ids and len(last.output.ids) <= 2
    assert ids_of(run(pair_of(ByPlace(sound), ByPlace(sound)), [0], settings))


@pytest.mark.parametrize("gamma", [1, 4])
def test_the_very_first_draft_is_verified(table_pair, gamma):
    settings = greedy(drafter="prompt_lookup", gamma=gamma, max_new_tokens=5)
    rounds = list(run(table_pair(torch.eye(8)[7]), [1, 1, 1], settings))
    assert ids_of(rounds) == [7] * 5
    assert rounds[0].proposal.ids.tolist()[:1] == [1] and (rounds[0].tested, rounds[0].accepted) == (1, 0)


@pytest.mark.parametrize("temperature", [0, 1])
def test_a_model_that_drafts_for_itself_needs_four_rounds_for_twenty_tokens(llama_pair, temperature):
    rounds = list(run(llama_pair(0, 0), PROMPT, greedy(temperature=temperature, gamma=4, max_new_tokens=20)))
    assert len(rounds) == 4 and len(ids_of(rounds)) == 20
    assert sum(len(r.proposal) for r in rounds) == sum(r.tested for r in rounds) == sum(r.accepted for r in rounds) == 16


def test_drafts_are_counted_as_proposed_not_as_configured(llama_pair):
    rounds = list(run(llama_pair(0, 0), PROMPT, greedy(gamma=5, max_new_tokens=8)))
    assert [len(r.proposal) for r in rounds] == [5, 1] and [r.accepted for r in rounds] == [5, 1]


@pytest.mark.parametrize("settings", [greedy(gamma=5), Settings(gamma=3, seed=4, max_new_tokens=40)], ids=["greedy", "sampled"])
def test_after_every_round_the_caches_hold_all_tokens_but_the_last(llama_pair, settings):
    pair = llama_pair(0, 1)
    committed = len(PROMPT)
    for round_ in run(pair, PROMPT, settings):
        committed += len(round_.emitted)
        assert pair.target.length == committed - 1
        assert pair.draft.length <= committed - 1


@pytest.mark.parametrize("count", [1, 10, 80])
def test_the_laws_used_are_those_of_a_full_reading_of_the_text(llama_pair, count):
    """A hole or a leftover in either cache shows as another law."""
    pair = llama_pair(0, 1)
    text = [(7 * i * i + 3) % 64 for i in range(count)]
    for round_ in run(pair, list(text), Settings(gamma=5, seed=1, max_new_tokens=64)):
        drafts = round_.proposal.ids.tolist()
        for model, laws in ((pair.target, round_.target_probs), (pair.draft, round_.proposal.probs)):
            logits = model.model(input_ids=torch.tensor([text + drafts]), use_cache=False).logits[0, len(text) - 1 :]
            torch.testing.assert_close(laws[: len(drafts)], logits.softmax(-1)[: len(drafts)], atol=1e-4, rtol=1e-3)
        text += round_.emitted


@pytest.mark.parametrize("seed", range(20))
def test_equal_laws_at_a_low_temperature_never_make_nan(llama_pair, seed):
    rounds = list(run(llama_pair(0, 0), PROMPT, Settings(temperature=0.01, seed=seed, max_new_tokens=60)))
    assert len(ids_of(rounds)) == 60
    for round_ in rounds:
        laws = torch.cat([round_.target_probs, round_.proposal.probs, round_.verdict.next_probs[None]])
        assert ((laws.sum(-1) - 1).abs() < 1e-4).all()


def test_a_seed_repeats_the_run_also_after_other_work_and_whatever_the_global_state(llama_pair):
    pair = llama_pair(0, 1)
    settings = Settings(temperature=1.5, seed=42, max_new_tokens=40)

    def everything():
        return [(r.proposal.ids.tolist(), r.proposal.uniforms, r.coins, r.accepted, r.emitted) for r in run(pair, PROMPT, settings)]

    first = everything()
    list(run(pair, [9, 9, 9], settings.changed(seed=1)))
    torch.manual_seed(5), np.random.seed(5), random.seed(5)
    assert everything() == first


def test_other_seeds_write_other_texts(llama_pair):
    pair = llama_pair(0, 1)
    texts = {tuple(ids_of(run(pair, PROMPT, Settings(temperature=1.5, seed=seed)))) for seed in range(1, 11)}
    assert len(texts) == 10


@pytest.mark.parametrize("gamma", range(0, 9))
def test_an_end_of_text_inside_a_block_ends_the_text(llama_pair, gamma):
    """The token at the first index from 6 on that hasn't occurred before is declared the end."""
    plain = ids_of(run(llama_pair(0, 0), PROMPT, greedy(gamma=0, max_new_tokens=30)))
    index = next(i for i in range(6, 30) if plain[i] not in plain[:i])
    rounds = list(run(llama_pair(0, 0, eos_ids=[plain[index]]), PROMPT, greedy(gamma=gamma, max_new_tokens=30)))
    assert ids_of(rounds) == plain[: index + 1] and rounds[-1].stop_reason == "eos"
    assert all(plain[index] not in r.proposal.ids[:-1].tolist() for r in rounds)


@pytest.mark.parametrize("rule", EXACT_RULES)
def test_an_accepted_end_of_text_is_counted_and_what_lies_behind_it_is_not(table_pair, rule):
    chain = torch.eye(8).roll(1, dims=1)
    (only,) = run(table_pair(chain, chain, eos_ids=[3]), [0], greedy(gamma=5, rule=rule))
    assert (only.emitted, only.accepted, only.tested, only.stop_reason) == ((1, 2, 3), 3, 3, "eos")


@pytest.mark.parametrize("rule", EXACT_RULES)
def test_each_of_several_ends_of_text_is_honoured(table_pair, rule):
    chain = torch.eye(8).roll(1, dims=1)
    rounds = list(run(table_pair(chain, chain, eos_ids=[2, 7]), [4], greedy(gamma=4, rule=rule)))
    assert ids_of(rounds) == [5, 6, 7] and rounds[-1].stop_reason == "eos"
    assert [r.proposal.ids.tolist() for r in rounds] == [[5, 6, 7]]


def test_the_target_alone_goes_on_where_the_drafts_context_ends(pair_of, tiny_llama):
    prompt = [(5 * i + 2) % 64 for i in range(60)]
    draft = TransformersModel(tiny_llama(1, max_positions=64))
    pair = pair_of(TransformersModel(tiny_llama(0)), draft)
    rounds = list(run(pair, prompt, greedy(gamma=4, max_new_tokens=50)))
    assert ids_of(rounds) == ids_of(run(pair, prompt, greedy(gamma=0, max_new_tokens=50)))
    assert len(rounds[0].proposal) == 4 and all(len(r.proposal) == 0 for r in rounds if r.first_index > 5)


def test_a_text_that_fills_the_context_stops_there_and_a_new_one_works(pair_of, tiny_llama):
    pair = pair_of(TransformersModel(tiny_llama(0, max_positions=128)), TransformersModel(tiny_llama(1, max_positions=128)))
    prompt = " ".join(f"t{i % 64}" for i in range(120))
    trace = decode(pair, prompt, chat=False, temperature=0.0, max_new_tokens=50)
    assert len(trace.output.ids) == 8 and trace.output.stop_reason == "context_full"
    with pytest.raises(BadInput, match="200 tokens.*128"):
        decode(pair, " ".join(["t1"] * 200), chat=False)
    assert len(decode(pair, "t1 t2", chat=False, max_new_tokens=9).output.ids) == 9


@pytest.mark.parametrize("failing", ["target", "draft"])
def test_a_fault_in_mid_round_leaves_nothing_behind(llama_pair, monkeypatch, failing):
    pair = llama_pair(0, 1)
    clean = ids_of(run(llama_pair(0, 1), PROMPT, greedy(gamma=4)))
    network, calls = getattr(pair, failing).model, []

    def fail_late(*_, **__):
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("out of memory")

    hook = network.model.layers[-1].register_forward_pre_hook(fail_late)
    with pytest.raises(RuntimeError, match="out of memory"):
        list(run(pair, PROMPT, greedy(gamma=4)))
    hook.remove()
    assert ids_of(run(pair, PROMPT, greedy(gamma=4))) == clean


def test_a_cancelled_run_leaves_nothing_behind(llama_pair):
    pair = llama_pair(0, 1)
    clean = ids_of(run(pair, PROMPT, greedy()))
    cancelled = run(pair, [8, 8], greedy())
    next(cancelled)
    cancelled.close()
    assert ids_of(run(pair, PROMPT, greedy())) == clean


@pytest.mark.parametrize("gamma", [0, 4])
def test_two_runs_at_once_on_one_model_are_refused_not_mixed(llama_pair, gamma):
    """The prompts are equally long, so the length of the cache alone would not tell."""
    pair = llama_pair(0, 0)
    one = run(pair, [1, 2, 3], greedy(gamma=gamma))
    next(one)
    other = run(pair, [4, 5, 6], greedy(gamma=gamma))
    next(other)
    with pytest.raises(RuntimeError, match="[Aa]nother run"):
        next(one)
    assert len(ids_of(other)) > 0


@pytest.mark.parametrize("prompt", [[5], [5, 6]])
def test_a_prompt_of_one_token_runs(llama_pair, prompt):
    pair = llama_pair(0, 1)
    assert ids_of(run(pair, prompt, greedy())) == ids_of(run(pair, prompt, greedy(gamma=0)))


def test_a_model_in_training_mode_repeats_itself_and_accepts_all_its_own_drafts(pair_of):
    from transformers import GPT2Config, GPT2LMHeadModel

    network = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)).train()
    pair = pair_of(TransformersModel(network), TransformersModel(network))
    first, second = (list(run(pair, PROMPT, greedy())) for _ in range(2))
    assert ids_of(first) == ids_of(second) and not network.training
    assert all(r.accepted == len(r.proposal) for r in first)


def test_a_table_runs_through_the_same_loop(table_pair):
    rounds = list(run(table_pair([0.5, 0.5], [0.5, 0.5]), [0], Settings(gamma=2, max_new_tokens=6)))
    assert len(ids_of(rounds)) == 6 and isinstance(table_pair([1.0]).target, TableModel)
