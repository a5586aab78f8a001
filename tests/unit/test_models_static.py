"""The static cache gives what the growing cache gives, wherever it is set back to.

On a machine with CUDA the same tests run through captured graphs.
"""

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specdec.decoding.drafting import ModelDrafter
from specdec.decoding.loop import speculative
from specdec.decoding.stopping import Stopping
from specdec.models.static import StaticModel
from specdec.models.transformers_model import TransformersModel
from specdec.settings import BadInput, Sampling, Settings

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def tiny(layers: int, seed: int) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=100,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.2,
    )
    return LlamaForCausalLM(config).to(DEVICE)


@pytest.fixture(scope="module")
def target():
    return tiny(layers=3, seed=0)


def test_logits_equal_those_of_a_growing_cache_after_every_rewind(target):
    growing, static = TransformersModel(target), StaticModel(target, capacity=128)
    dice = torch.Generator().manual_seed(1)
    prompt = torch.randint(0, 100, (20,), generator=dice).to(DEVICE)
    for model in (growing, static):
        model.prefill(prompt)
    for _ in range(20):
        width, back = torch.randint(1, 6, (2,), generator=dice).tolist()
        tokens = torch.randint(0, 100, (width,), generator=dice).to(DEVICE)
        torch.testing.assert_close(static.extend(tokens), growing.extend(tokens), atol=1e-4, rtol=1e-4)
        for model in (growing, static):
            model.rewind(model.length - min(width, back))


def test_logits_survive_the_next_pass(target):
    static = StaticModel(target, capacity=64)
    first = static.extend(torch.tensor([1, 2], device=DEVICE))
    kept = first.clone()
    static.extend(torch.tensor([3, 4], device=DEVICE))
    assert torch.equal(first, kept)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_speculative_decoding_gives_the_same_text_on_both_caches(target, temperature):
    draft = tiny(layers=1, seed=1)
    settings = Settings(temperature=temperature, gamma=3, seed=5)
    stopping = Stopping(eos_ids=frozenset(), budget=40)

    def text(kind):
        drafter = ModelDrafter(kind(draft), Sampling(temperature))
        rounds = speculative(kind(target), drafter, [5, 6, 7], settings, stopping)
        return [token for round_ in rounds for token in round_.emitted]

    assert text(StaticModel) == text(TransformersModel)


def test_more_tokens_than_the_cache_holds_are_refused_with_the_numbers(target):
    static = StaticModel(target, name="small", capacity=8)
    static.prefill(torch.arange(6, device=DEVICE))
    with pytest.raises(BadInput, match="small can hold 8 tokens; 6 \\+ 3 are too many"):
        static.extend(torch.arange(3, device=DEVICE))


def test_rewinding_forward_is_refused(target):
    with pytest.raises(ValueError, match="can't be rewound to 1"):
        StaticModel(target, capacity=8).rewind(1)
