"""The student: shared embeddings, a trimmed head, checked shards."""

import json

import pytest
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

from specdec.models.int8 import Int8Linear, in_eight_bits
from specdec.models.shards import SHARD_BYTES, StudentError
from specdec.models.student import (
    BUNDLED,
    TrimmedHead,
    build_student,
    load_student,
    read_student,
    save_student,
    student_state,
)

HEAD_IDS = torch.tensor([0, 3, 4, 9, 20, 49], dtype=torch.int32)


def tiny_llama(width=32, layers=3):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=width,
        intermediate_size=48,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        tie_word_embeddings=True,
        eos_token_id=2,
    )
    return LlamaForCausalLM(config).eval()


def state_of(model, layers):
    kept = LlamaForCausalLM(model.config).model.layers[:layers]
    state = {f"layers.{name}": tensor.detach().clone() for name, tensor in kept.state_dict().items()}
    return state | {"norm.weight": torch.ones(model.config.hidden_size)}


@pytest.fixture
def target():
    return tiny_llama()


@pytest.fixture
def student(target):
    return build_student(target, state_of(target, 2), HEAD_IDS)


def test_embeddings_are_the_targets_own_storage(target, student):
    assert student.get_input_embeddings().weight.data_ptr() == target.get_input_embeddings().weight.data_ptr()


def test_building_leaves_the_target_as_it_was(target):
    ids = torch.arange(10)[None]
    before = target(ids).logits
    build_student(target, state_of(target, 2), HEAD_IDS)
    assert target.config.num_hidden_layers == 3
    assert torch.equal(target(ids).logits, before)


def test_logits_are_the_targets_rows_inside_the_head_and_minus_infinity_outside(target, student):
    ids = torch.arange(10)[None]
    logits = student(ids).logits
    hidden = student.model(ids).last_hidden_state
    inside = torch.zeros(50, dtype=torch.bool)
    inside[HEAD_IDS.long()] = True
    assert logits.shape == (1, 10, 50)
    torch.testing.assert_close(logits[..., inside], hidden @ target.lm_head.weight[inside].T)
    assert torch.isneginf(logits[..., ~inside]).all()


def test_all_layers_of_the_target_make_the_target(target):
    own = {f"layers.{name}": tensor for name, tensor in target.model.layers.state_dict().items()}
    own["norm.weight"] = target.model.norm.weight.detach()
    same = build_student(target, own, torch.arange(50))
    ids = torch.arange(12)[None]
    torch.testing.assert_close(same(ids).logits, target(ids).logits)


def test_a_cache_gives_the_same_logits_and_can_be_rewound(student):
    ids = torch.randint(0, 50, (1, 12), generator=torch.Generator().manual_seed(1))
    whole = student(ids).logits
    cache = DynamicCache(config=student.config)
    student(ids[:, :8], cache=cache, use_cache=True)
    student(torch.tensor([[5, 6, 7]]), cache=cache, use_cache=True)
    cache.crop(-3)
    rest = student(ids[:, 8:], cache=cache, use_cache=True).logits
    torch.testing.assert_close(rest, whole[:, 8:])
    assert cache.get_seq_length() == 12


def test_the_student_takes_the_targets_dtype(target):
    student = build_student(target.to(torch.bfloat16), state_of(target, 1), HEAD_IDS)
    assert {parameter.dtype for parameter in student.parameters()} == {torch.bfloat16}
    assert student(torch.tensor([[1, 2]])).logits.dtype == torch.bfloat16


def test_head_works_for_any_leading_shape():
    head = TrimmedHead(torch.eye(4), torch.tensor([1, 2, 5, 7]), vocab_size=8)
    assert head(torch.ones(4)).shape == (8,)
    assert head(torch.ones(2, 3, 4)).isfinite().sum(-1).tolist() == [[4] * 3] * 2


def test_saved_and_loaded_student_is_the_same(tmp_path, target, student):
    save_student(tmp_path, student_state(student), HEAD_IDS, {"base": "tiny"})
    loaded = load_student(target, tmp_path)
    ids = torch.arange(9)[None]
    expected = build_student(target, {name: t.bfloat16() for name, t in student_state(student).items()}, HEAD_IDS)
    in_eight_bits(expected)
    assert torch.equal(loaded(ids).logits, expected(ids).logits)


def test_eight_bits_change_the_law_a_little_and_the_target_not_at_all(tmp_path, target, student):
    ids = torch.arange(9)[None]
    before = target(ids).logits
    save_student(tmp_path, student_state(student), HEAD_IDS, {})
    law, exact = (model(ids).logits.softmax(-1) for model in (load_student(target, tmp_path), student))
    assert 0 < (law - exact).clamp_min(0).sum(-1).max() < 0.02
    assert torch.equal(target(ids).logits, before)
    assert not any(isinstance(part, Int8Linear) for part in target.modules())


def test_a_new_save_leaves_no_old_shard(tmp_path, student):
    (tmp_path / "student-00009-of-00009.safetensors").write_bytes(b"old")
    save_student(tmp_path, student_state(student), HEAD_IDS, {})
    named = json.loads((tmp_path / "manifest.json").read_text())["shards"]
    assert sorted(named) == sorted(path.name for path in tmp_path.glob("*.safetensors"))


def test_a_changed_shard_is_refused(tmp_path, target, student):
    save_student(tmp_path, student_state(student), HEAD_IDS, {})
    shard = next(tmp_path.glob("*.safetensors"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"\x00\x01")
    with pytest.raises(StudentError, match=rf"{shard.name} is damaged or was changed: its sha256 is [0-9a-f]{{64}}"):
        load_student(target, tmp_path)


@pytest.mark.parametrize(
    "text", [b"", b"{", b"null", b"[]", b'{"format": "specdec-student/1", "shards": 7}', b"\xff\xfe"]
)
def test_a_manifest_that_is_none_is_refused(tmp_path, target, student, text):
    save_student(tmp_path, student_state(student), HEAD_IDS, {})
    (tmp_path / "manifest.json").write_bytes(text)
    with pytest.raises(StudentError, match="manifest.json is damaged"):
        load_student(target, tmp_path)


def test_a_manifest_that_names_too_few_shards_is_refused(tmp_path, target, student):
    save_student(tmp_path, student_state(student), HEAD_IDS, {})
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"shards": {}}))
    with pytest.raises(StudentError, match="lack head_ids, norm.weight"):
        load_student(target, tmp_path)


def test_a_missing_shard_and_a_missing_folder_are_named(tmp_path, target, student):
    with pytest.raises(StudentError, match="manifest.json is missing"):
        load_student(target, tmp_path / "nowhere")
    save_student(tmp_path, student_state(student), HEAD_IDS, {})
    shard = next(tmp_path.glob("*.safetensors"))
    shard.unlink()
    with pytest.raises(StudentError, match=f"incomplete: {shard.name} is missing"):
        load_student(target, tmp_path)


def test_a_target_of_another_width_is_refused(target):
    with pytest.raises(StudentError, match="needs embeddings of width 32, but the target's have width 16"):
        build_student(tiny_llama(width=16), state_of(target, 1), HEAD_IDS)


def test_the_bundled_student_is_whole_and_small():
    state, head_ids = read_student(BUNDLED)
    shards = list(BUNDLED.glob("*.safetensors"))
    assert all(shard.stat().st_size < 10_000_000 for shard in shards)
    assert sum(shard.stat().st_size for shard in shards) <= 25_000_000
    assert SHARD_BYTES < 10_000_000
    assert state["norm.weight"].shape == (576,)
    assert (head_ids[1:] > head_ids[:-1]).all()
