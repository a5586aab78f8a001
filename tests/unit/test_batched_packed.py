"""A pass for several texts: each row's logits are those of its text alone, and a fault leaves nothing behind."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import transformers
from transformers import AttentionInterface, AutoModelForCausalLM

from specdec.models.batched import packed
from specdec.models.batched.packed import ATTENTION, Row, can_pack, extend_packed
from specdec.models.static import StaticModel
from specdec.models.transformers_model import TransformersModel

SHAPE = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
PACKABLE = {
    "Llama": SHAPE,
    "Qwen2": SHAPE,
    "Mistral": SHAPE | {"sliding_window": None},
    "GPT2": dict(n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0),
    "GPTNeoX": {key: value for key, value in SHAPE.items() if key != "num_key_value_heads"},
}
LENGTHS = [(0, 1), (7, 3), (130, 2), (1, 5), (40, 1), (12, 2)]  # what each text has in its cache, and what is fed


def random_model(family: str = "Llama", **shape):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = getattr(transformers, family + "Config")(vocab_size=64, initializer_range=0.25, **shape)
        return AutoModelForCausalLM.from_config(config)


def some_ids(count: int, seed: int = 3) -> torch.Tensor:
    return torch.randint(0, 64, (count,), generator=torch.Generator().manual_seed(seed))


def filled(model, lengths=LENGTHS) -> list[Row]:
    """A row for each of `lengths`, every text another."""
    rows = []
    for seed, (before, count) in enumerate(lengths):
        ids = some_ids(before + count, seed)
        rows.append(Row(model.fresh(), ids[before:]))
        rows[-1].model.prefill(ids[:before])
    return rows


def assert_packed_is_alone(model) -> None:
    rows, alone = filled(model), filled(model)
    expected = [row.model.extend(row.tokens) for row in alone]
    torch.testing.assert_close(extend_packed(model.model, rows), expected, atol=2e-5, rtol=1e-4)
    assert [row.model.length for row in rows] == [before + count for before, count in LENGTHS]
    for row, (before, _) in zip(rows, LENGTHS):
        row.model.rewind(before)
    again = extend_packed(model.model, rows[::-1])[::-1]  # behind rejected drafts, and in another order
    torch.testing.assert_close(again, expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("family", PACKABLE)
def test_a_row_of_a_packed_pass_is_what_its_text_gives_alone(family):
    model = TransformersModel(random_model(family, **PACKABLE[family]))
    assert can_pack(model)
    assert_packed_is_alone(model)


def test_a_cache_of_fixed_places_is_packed_too():
    model = StaticModel(random_model(**SHAPE), capacity=160)
    assert can_pack(model)
    assert_packed_is_alone(model)


@pytest.mark.parametrize("kind", [TransformersModel, StaticModel])
def test_a_text_alone_is_computed_to_the_last_bit_as_before(kind):
    before, after = kind(random_model(**SHAPE)), kind(random_model(**SHAPE))
    assert can_pack(after)
    for feed in (some_ids(5), some_ids(1), some_ids(3)):
        assert torch.equal(after.extend(feed), before.extend(feed))


@pytest.mark.parametrize("kind", [TransformersModel, StaticModel])
def test_prompts_are_read_in_the_pass_that_scores_others(kind):
    model = kind(random_model(**SHAPE))
    assert can_pack(model)
    rows, alone = filled(model), filled(model)
    lengths = [(0, 30), (5, 90), (0, 1)]
    read = [replace(row, scored=False) for row in filled(model, lengths)]
    expected = [row.model.extend(row.tokens) for row in alone]
    logits = extend_packed(model.model, [read[0], *rows[:3], *read[1:], *rows[3:]])
    torch.testing.assert_close(logits[1:4] + logits[6:], expected, atol=2e-5, rtol=1e-4)
    assert [logits[number] for number in (0, 4, 5)] == [None] * 3
    assert extend_packed(model.model, [replace(row, scored=False) for row in filled(model, lengths)]) == [None] * 3
    for row, whole in zip(read, filled(model, lengths)):
        whole.model.prefill(whole.tokens)
        torch.testing.assert_close(row.model.extend(some_ids(2)), whole.model.extend(some_ids(2)), atol=2e-5, rtol=1e-4)


def test_a_model_that_adds_its_own_to_attention_cannot_be_packed():
    network = random_model("Bloom", hidden_size=32, n_layer=2, n_head=4)
    before = network.config._attn_implementation
    assert not can_pack(TransformersModel(network))
    assert network.config._attn_implementation == before


def rows_swapped(attend):
    """The first text is read in the second's cache."""

    def wrong(*parts, packed=None, **rest):
        if packed:
            first, second = packed[0].places
            swapped = [replace(first, cache=second.cache), replace(second, cache=first.cache)]
            packed = [replace(packed[0], places=swapped)]
        return attend(*parts, packed=packed, **rest)

    return wrong


def one_place_off(attend):
    """Tokens see what stands one place beside."""

    def wrong(*parts, packed=None, **rest):
        packed = packed and [replace(group, mask=group.mask.roll(1, -1)) for group in packed]
        return attend(*parts, packed=packed, **rest)

    return wrong


@pytest.mark.parametrize("fault", [rows_swapped, one_place_off])
def test_a_pass_that_mixes_texts_or_places_is_noticed_before_anybody_shares_it(fault, monkeypatch):
    monkeypatch.setitem(AttentionInterface._global_mapping, ATTENTION, fault(packed._attend))
    assert not can_pack(TransformersModel(random_model(**SHAPE)))


@pytest.mark.parametrize("kind", [TransformersModel, StaticModel])
def test_a_pass_that_breaks_off_leaves_every_text_as_it_was(kind):
    model = kind(random_model(**SHAPE))
    assert can_pack(model)
    rows, alone = filled(model), filled(model)

    def broken(*_):
        raise MemoryError

    hook = model.model.model.layers[1].register_forward_pre_hook(broken)  # one layer has them all, the other none
    with pytest.raises(MemoryError):
        extend_packed(model.model, rows)
    hook.remove()
    assert [row.model.length for row in rows] == [before for before, _ in LENGTHS]
    expected = [row.model.extend(row.tokens) for row in alone]
    torch.testing.assert_close(extend_packed(model.model, rows), expected, atol=2e-5, rtol=1e-4)
