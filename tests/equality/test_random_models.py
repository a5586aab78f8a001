"""In float32 our texts are those of `transformers`' own generate, plain and assisted, token for token."""

from __future__ import annotations

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from specdec.models.transformers_model import TransformersModel
from specdec.recording import run
from specdec.settings import EXACT_RULES, Settings

NEW_TOKENS = 40
PROMPTS = [[3, 1, 4, 1, 5], [7], [11, 12, 13, 11, 12, 13, 11, 12]]


def tiny_gpt2(seed: int) -> GPT2LMHeadModel:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = GPT2Config(vocab_size=64, n_positions=256, n_embd=32, n_layer=2, n_head=4, initializer_range=0.25)
        config.bos_token_id = config.eos_token_id = None
        return GPT2LMHeadModel(config).eval()


@pytest.fixture(params=["llama-0", "llama-7", "llama-8", "gpt2-0"])
def networks(request, tiny_llama):
    """A target and a draft of one family."""
    family, seed = request.param.split("-")
    build = tiny_llama if family == "llama" else tiny_gpt2
    return build(int(seed)), build(int(seed) + 100)


@pytest.fixture
def pair(networks, pair_of):
    target, draft = networks
    return pair_of(TransformersModel(target), TransformersModel(draft))


def generated(network, prompt: list[int], **options) -> list[int]:
    out = network.generate(
        torch.tensor([prompt]), do_sample=False, max_new_tokens=NEW_TOKENS, eos_token_id=None, pad_token_id=0, **options
    )
    return out[0, len(prompt) :].tolist()


def decoded(pair, prompt: list[int], **settings) -> list[int]:
    settings = Settings(**{"temperature": 0, "max_new_tokens": NEW_TOKENS} | settings)
    return [token for round_ in run(pair, prompt, settings) for token in round_.emitted]


@pytest.mark.parametrize("prompt", PROMPTS, ids=str)
def test_plain_greedy_decoding_equals_generate(networks, pair, prompt):
    assert decoded(pair, prompt, gamma=0) == generated(networks[0], prompt)


@pytest.mark.parametrize("prompt", PROMPTS, ids=str)
@pytest.mark.parametrize("rule", EXACT_RULES)
def test_greedy_speculation_equals_generate(networks, pair, prompt, rule):
    assert decoded(pair, prompt, rule=rule, gamma=3) == generated(networks[0], prompt)


@pytest.mark.parametrize("prompt", PROMPTS, ids=str)
def test_greedy_speculation_equals_assisted_generation_with_the_same_draft(networks, pair, prompt):
    target, draft = networks
    assert decoded(pair, prompt) == generated(target, prompt, assistant_model=draft)


def test_prompt_lookup_equals_that_of_generate(networks, pair):
    prompt = PROMPTS[2]
    assert decoded(pair, prompt, drafter="prompt_lookup") == generated(networks[0], prompt, prompt_lookup_num_tokens=4)


def test_an_end_of_text_ends_both_texts_at_the_same_place(networks, pair_of):
    target, draft = networks
    prompt = PROMPTS[0]
    plain = generated(target, prompt)
    index = next(i for i in range(4, NEW_TOKENS) if plain[i] not in plain[:i])
    ending = pair_of(TransformersModel(target), TransformersModel(draft), eos_ids=[plain[index]])
    theirs = target.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=NEW_TOKENS, eos_token_id=plain[index], pad_token_id=0)
    assert decoded(ending, prompt) == theirs[0, len(prompt) :].tolist() == plain[: index + 1]


@pytest.mark.parametrize(("top_k", "top_p", "temperature"), [(0, 1.0, 1.0), (5, 1.0, 0.7), (0, 0.8, 1.3), (20, 0.9, 1.0)])
def test_the_laws_of_a_run_are_those_that_generate_samples_from(networks, pair, top_k, top_p, temperature):
    """`generate` returns its processed scores; our plain run is forced along the text that it sampled."""
    target = networks[0]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        out = target.generate(
            torch.tensor([PROMPTS[0]]), do_sample=True, max_new_tokens=12, top_k=top_k, top_p=top_p,
            temperature=temperature, eos_token_id=None, pad_token_id=0, output_scores=True, return_dict_in_generate=True,
        )  # fmt: skip
    settings = Settings(temperature=temperature, top_k=top_k, top_p=top_p, max_new_tokens=1)
    text = out.sequences[0].tolist()
    for place, scores in enumerate(out.scores):
        (round_,) = run(pair, text[: len(PROMPTS[0]) + place], settings)
        torch.testing.assert_close(round_.target_probs[0], scores[0].softmax(-1), atol=1e-5, rtol=1e-3)
