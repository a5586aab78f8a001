"""The feature head: rows on the target's features, drafting on its own, unrolled training, checked shards."""

import pytest
import torch

from specdec.distill.unrolling import unrolled
from specdec.models.feature_head import (
    build_feature_head,
    feature_head_state,
    load_feature_head,
    read_feature_head,
    save_feature_head,
)
from specdec.models.int8 import in_eight_bits
from specdec.models.shards import StudentError
from specdec.models.student import save_student

VOCAB, WIDTH, TAPS = 64, 32, (0, 1, 2)
HEAD_IDS = torch.tensor([0, 3, 4, 9, 20, 49])


@pytest.fixture(scope="module")
def target(tiny_llama):
    return tiny_llama(seed=1, num_key_value_heads=2)


def first_state(target, layers):
    chance = torch.Generator().manual_seed(4)
    norms = ("embed_norm", "feature_norm", "norm", *(f"tap_norms.{number}" for number in range(len(TAPS))))
    state = {f"{name}.weight": torch.rand(WIDTH, generator=chance) + 0.5 for name in norms}
    state["mix.weight"] = torch.randn(WIDTH, len(TAPS) * WIDTH, generator=chance) / 8
    state["join.weight"] = torch.randn(WIDTH, 2 * WIDTH, generator=chance) / 6
    for number in range(layers):
        own = target.model.layers[number].state_dict()
        state |= {f"layers.{number}.{name}": tensor.clone() for name, tensor in own.items()}
    return state


@pytest.fixture(scope="module", params=[1, 2])
def head(request, target):
    return build_feature_head(target, first_state(target, request.param), HEAD_IDS, TAPS)


def text(count, seed=0):
    """Tokens, and features of the places before each: zeros before the first."""
    chance = torch.Generator().manual_seed(seed)
    features = torch.randn(count, WIDTH, generator=chance)
    features[0] = 0
    return torch.randint(0, VOCAB, (count,), generator=chance), features


def test_the_head_shares_the_targets_embeddings_and_scores_its_ids_alone(target, head):
    assert head.embed_tokens.weight.data_ptr() == target.get_input_embeddings().weight.data_ptr()
    hidden = torch.randn(2, 3, WIDTH)
    logits = head.logits(hidden)
    assert logits.shape == (2, 3, VOCAB)
    torch.testing.assert_close(logits[..., HEAD_IDS], hidden @ target.lm_head.weight[HEAD_IDS].T)
    assert logits.isfinite().sum(-1).eq(len(HEAD_IDS)).all()
    assert head.mixed(torch.randn(2, 3, len(TAPS), WIDTH)).shape == (2, 3, WIDTH)


def test_each_tap_is_normalised_by_itself(head):
    taken = torch.randn(4, len(TAPS), WIDTH)
    scaled = taken * torch.tensor([1.0, 30.0, 0.2])[:, None]
    torch.testing.assert_close(head.mixed(scaled), head.mixed(taken), atol=1e-3, rtol=1e-3)


@torch.no_grad()
def test_piece_by_piece_gives_the_rows_of_the_whole_and_the_cache_can_be_rewound(head):
    tokens, features = text(12)
    whole = head.extend(tokens, features, head.new_cache(), 0)
    cache = head.new_cache()
    first = head.extend(tokens[:5], features[:5], cache, 0)
    head.extend(tokens[:3], features[2:5], cache, 5)
    cache.crop(-3)
    rest = [head.extend(tokens[i : i + 1], features[i : i + 1], cache, i) for i in (5, 6)]
    last = head.extend(tokens[7:], features[7:], cache, 7)
    torch.testing.assert_close(torch.cat((first, *rest, last)), whole)
    assert cache.get_seq_length() == 12


@torch.no_grad()
def test_a_row_depends_on_the_places_before_it_alone(head):
    tokens, features = text(8)
    before = head.extend(tokens, features, head.new_cache(), 0)
    tokens[5], features[5] = (tokens[5] + 1) % VOCAB, features[5] + 1
    after = head.extend(tokens, features, head.new_cache(), 0)
    torch.testing.assert_close(after[:5], before[:5])
    assert (after[5:] - before[5:]).abs().amax(-1).min() > 1e-4


@torch.no_grad()
def test_unrolled_rows_are_those_of_drafting_step_by_step(head):
    """The row of place i in step s is the last of s rows drafted behind the true ones up to i - s + 1."""
    tokens, features = text(9)
    own = torch.cat((features[1:], torch.randn(1, WIDTH)))
    steps = list(unrolled(head, torch.stack((tokens, tokens.flip(0))), torch.stack((own, own)), 4))
    for step, hidden in enumerate(steps, start=1):
        for place in range(step - 1, len(tokens)):
            known = place - step + 2
            cache = head.new_cache()
            last = head.extend(tokens[:known], features[:known], cache, 0)[-1:]
            for drafted in range(known, place + 1):
                last = head.extend(tokens[drafted : drafted + 1], last, cache, drafted)
            torch.testing.assert_close(hidden[0, place], last[0], atol=1e-5, rtol=1e-4)
    assert (steps[1][0, 1:] - steps[0][0, 1:]).abs().amax(-1).min() > 1e-3


@torch.no_grad()
def test_saved_and_loaded_head_is_the_same_in_eight_bits(tmp_path, target, head):
    state = feature_head_state(head)
    save_feature_head(tmp_path, state, HEAD_IDS, TAPS, {"base": "tiny"})
    loaded = load_feature_head(target, tmp_path)
    expected = build_feature_head(target, {name: t.bfloat16() for name, t in state.items()}, HEAD_IDS, TAPS)
    in_eight_bits(expected)
    tokens, features = text(6)
    hidden = loaded.extend(tokens, features, loaded.new_cache(), 0)
    assert torch.equal(hidden, expected.extend(tokens, features, expected.new_cache(), 0))
    assert torch.equal(loaded.logits(hidden), expected.logits(hidden))
    assert loaded.taps == TAPS
    assert read_feature_head(tmp_path)[0].keys() == state.keys()
    assert load_feature_head(target, tmp_path, head=3).logits(hidden).isfinite().sum(-1).eq(3).all()


def test_a_changed_shard_and_a_folder_of_another_kind_of_draft_are_refused(tmp_path, target, head):
    save_feature_head(tmp_path, feature_head_state(head), HEAD_IDS, TAPS, {})
    shard = next(tmp_path.glob("*.safetensors"))
    shard.write_bytes(shard.read_bytes()[:-1] + b"\x01")
    with pytest.raises(StudentError, match=rf"{shard.name} is damaged or was changed: its sha256 is [0-9a-f]{{64}}"):
        load_feature_head(target, tmp_path)
    save_student(tmp_path, feature_head_state(head), HEAD_IDS, {})
    with pytest.raises(StudentError, match="has format 'specdec-student/1'; this version reads 'specdec-feature-head/1'"):
        load_feature_head(target, tmp_path)


def test_a_target_of_another_width_is_refused(tiny_llama, target, head):
    other = tiny_llama(hidden_size=16)
    with pytest.raises(StudentError, match="needs embeddings of width 32, but the target's have width 16"):
        build_feature_head(other, feature_head_state(head), HEAD_IDS, TAPS)
