"""The model interface: extend, prefill and rewind agree with a fresh reading of the whole text."""

from __future__ import annotations

import threading

import pytest
import torch
import transformers
from transformers import AutoModelForCausalLM

from specdec.models.cancelling import CancellableModel, Cancelled, cancelled_by
from specdec.models.table import TableModel
from specdec.models.transformers_model import PREFILL_CHUNK, CannotRewind, TransformersModel
from specdec.settings import BadInput

SHAPE = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
GPT2_SHAPE = dict(n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)

REWINDABLE = {
    "Llama": SHAPE,
    "Qwen2": SHAPE,
    "Mistral": SHAPE | {"sliding_window": None},
    "GPT2": GPT2_SHAPE,
    "GPTNeoX": {key: value for key, value in SHAPE.items() if key != "num_key_value_heads"},
    "Bloom": dict(hidden_size=32, n_layer=2, n_head=4),
}
NOT_REWINDABLE = {
    "Mamba": (dict(hidden_size=32, num_hidden_layers=2, state_size=4), "recurrent"),
    "Lfm2": (SHAPE | {"layer_types": ["conv", "full_attention"]}, "recurrent"),
    "Mistral": (SHAPE | {"sliding_window": 8}, "sliding window"),
    "Gemma2": (SHAPE | {"sliding_window": 8, "head_dim": 8}, "sliding window"),
    "OpenAIGPT": (dict(n_embd=32, n_layer=2, n_head=4), "no cache"),
    "XLNet": (dict(d_model=32, n_layer=2, n_head=4, d_inner=48), "no cache"),
    "Bert": (SHAPE, "both sides"),
}


def random_model(family: str, vocab_size: int = 64, **shape):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return AutoModelForCausalLM.from_config(getattr(transformers, family + "Config")(vocab_size=vocab_size, **shape))


def some_ids(count: int, vocab_size: int = 64) -> torch.Tensor:
    return torch.randint(0, vocab_size, (count,), generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("family", REWINDABLE)
def test_logits_after_rewinding_are_those_of_a_fresh_reading(family):
    model = TransformersModel(random_model(family, **REWINDABLE[family]))
    ids = some_ids(30)
    fresh = model.model(input_ids=ids[None], use_cache=False).logits[0].float()
    model.prefill(ids[:10])
    model.extend(torch.cat([ids[10:12], some_ids(5)]))
    model.rewind(12)
    assert model.length == 12
    pieces = [model.extend(ids[12:13]), model.extend(ids[13:20]), model.extend(ids[20:])]
    torch.testing.assert_close(torch.cat(pieces), fresh[12:], atol=1e-5, rtol=1e-4)
    assert model.length == 30


@pytest.mark.parametrize("family", NOT_REWINDABLE)
def test_a_model_whose_text_cannot_be_taken_back_is_refused_by_name_with_the_reason(family):
    shape, reason = NOT_REWINDABLE[family]
    with pytest.raises(CannotRewind, match=reason) as refusal:
        TransformersModel(random_model(family, **shape), name="some/model")
    assert "some/model" in str(refusal.value) and str(refusal.value).endswith(".")


def test_an_encoder_decoder_is_refused():
    config = transformers.T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=1, num_heads=2)
    with pytest.raises(CannotRewind, match="encoder-decoder"):
        TransformersModel(transformers.T5ForConditionalGeneration(config))


def test_a_model_in_training_mode_is_used_without_dropout_and_gradients():
    network = random_model("GPT2", **GPT2_SHAPE, resid_pdrop=0.5, embd_pdrop=0.5, attn_pdrop=0.5).train()
    model = TransformersModel(network)
    first = model.extend(some_ids(8))
    model.rewind(0)
    assert torch.equal(model.extend(some_ids(8)), first)
    assert not network.training and not first.requires_grad


def test_padding_ids_behind_the_vocabulary_have_no_logit(tiny_llama):
    model = TransformersModel(tiny_llama(vocab_size=80), vocab_size=64)
    assert model.vocab_size == 64 and model.extend(some_ids(3)).shape == (3, 64)


def test_a_tokenizer_larger_than_the_embedding_does_not_widen_it(tiny_llama):
    assert TransformersModel(tiny_llama(vocab_size=64), vocab_size=100).vocab_size == 64


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_logits_are_float32_whatever_the_weights_are(tiny_llama, dtype):
    assert TransformersModel(tiny_llama().to(dtype)).extend(some_ids(3)).dtype == torch.float32


def test_a_long_prompt_is_read_in_pieces_with_the_same_result(tiny_llama):
    count = 2 * PREFILL_CHUNK + 7
    model = TransformersModel(tiny_llama(max_positions=count + 1))
    ids = some_ids(count + 1)
    model.prefill(ids[:-1])
    assert model.length == count
    fresh = model.model(input_ids=ids[None], use_cache=False).logits[0, -1]
    torch.testing.assert_close(model.extend(ids[-1:])[0], fresh, atol=1e-4, rtol=1e-4)


def test_a_model_that_can_be_cancelled_gives_the_same_numbers(tiny_llama):
    count = 2 * PREFILL_CHUNK + 7
    network = tiny_llama(max_positions=count + 1)
    ids, asked = some_ids(count + 1), []
    plain = TransformersModel(network)
    model = CancellableModel(TransformersModel(network), lambda: asked.append(model.length))
    for one in (plain, model):
        one.prefill(ids[:-1])
    assert torch.equal(model.extend(ids[-1:]), plain.extend(ids[-1:]))
    # Before reading, before each of two layers in three pieces (the first fills the cache), before the pass.
    assert asked == [0, 0, 256, 256, 512, 512, 519, 519]
    assert not any(layer._forward_pre_hooks for layer in network.modules())
    assert (model.name, model.max_length, model.model) == (plain.name, plain.max_length, network)
    with pytest.raises(BadInput, match=f"{count + 1} \\+ 300 are too many"):
        model.prefill(torch.zeros(300, dtype=torch.int64))


def test_a_cancelled_model_begins_afresh(tiny_llama):
    count = 2 * PREFILL_CHUNK + 7
    ids, stop, asked = some_ids(count), threading.Event(), []
    network = TransformersModel(tiny_llama(max_positions=count))

    def between_two_layers_of_the_second_piece() -> None:
        asked.append(None)
        if len(asked) == 5:
            stop.set()
        cancelled_by(stop)()

    with pytest.raises(Cancelled):
        CancellableModel(network, between_two_layers_of_the_second_piece).prefill(ids)
    model = CancellableModel(network, cancelled_by(threading.Event()))
    model.rewind(0)
    model.prefill(ids[:-1])
    fresh = TransformersModel(network.model)
    fresh.prefill(ids[:-1])
    assert torch.equal(model.extend(ids[-1:]), fresh.extend(ids[-1:]))


def test_reading_nothing_ahead_changes_nothing(tiny_llama):
    model = TransformersModel(tiny_llama())
    model.prefill(some_ids(0))
    assert model.length == 0
    model.extend(some_ids(4))
    model.prefill(some_ids(0))
    assert model.length == 4


@pytest.mark.parametrize("feed", ["extend", "prefill"])
def test_a_text_past_the_context_is_refused_with_the_numbers(tiny_llama, feed):
    for model in (TransformersModel(tiny_llama(max_positions=16)), TableModel([1, 1], max_length=16)):
        model.prefill(torch.zeros(10, dtype=torch.int64))
        with pytest.raises(BadInput, match=r"16 tokens; 10 \+ 7"):
            getattr(model, feed)(torch.zeros(7, dtype=torch.int64))
        assert model.length == 10


def test_a_cache_cannot_be_rewound_forward(tiny_llama):
    for model in (TransformersModel(tiny_llama()), TableModel([1, 1])):
        model.extend(torch.tensor([0, 1]))
        with pytest.raises(ValueError, match="holds 2 tokens"):
            model.rewind(3)


def test_two_wrappers_of_one_network_have_caches_of_their_own(tiny_llama):
    network = tiny_llama()
    one, two = TransformersModel(network), TransformersModel(network)
    one.extend(some_ids(9))
    assert (one.length, two.length) == (9, 0)


def test_a_table_says_the_same_everywhere_or_follows_its_rows():
    everywhere = TableModel([2, 1, 1]).extend(torch.tensor([0, 2]))
    assert everywhere.softmax(-1).tolist() == [pytest.approx([0.5, 0.25, 0.25])] * 2
    markov = TableModel([[0.9, 0.1], [0.3, 0.7]]).extend(torch.tensor([1, 0, 1]))
    assert markov.softmax(-1).flatten().tolist() == pytest.approx([0.3, 0.7, 0.9, 0.1, 0.3, 0.7])


@pytest.mark.parametrize(
    "table", [[0.5, -0.5], [0, 0], [[1, 0], [0, 0]], [[1, 1], [1, 1], [1, 1]], [[[1.0]]], [float("nan"), 1], [float("inf"), 1]]
)
def test_a_table_that_is_no_law_is_refused(table):
    with pytest.raises(ValueError):
        TableModel(table)
