"""Loading two models from folders: what they share, where a text ends, what is refused and why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import specdec
from specdec.models.catalogue import CATALOGUE, DEFAULT_PAIR, PairSpec, first_pair
from specdec.models.pairs import PairRefused, load_models, load_pair
from specdec.models.weights import WeightsUnavailable
from specdec.recording import decode, run
from specdec.settings import BadInput, Settings
from specdec.trace.record import PairInfo
from tests.offering import offering

WORDS = ["<unk>", "cat", "dog", "sat", "on", "the", "mat", "."]


@pytest.fixture
def folder(tmp_path, saved):
    """folder(name, words=WORDS, **model): a model and its tokenizer, saved as `transformers` does."""
    return lambda name, words=WORDS, **model: saved(tmp_path / name, words, **model)


def on_cpu(target: str, draft: str | None, **values):
    return load_models(target, draft, dtype="float32", device="cpu", **values)


def test_two_folders_make_a_pair_that_decodes(folder):
    pair = on_cpu(folder("big"), folder("small", seed=1))
    trace = decode(pair, "the cat", chat=False, max_new_tokens=6)
    assert len(trace.output.ids) == 6 and trace.dtype == "float32"


def test_a_folder_is_called_by_its_last_name_and_two_of_one_name_are_told_apart(folder, monkeypatch, tmp_path):
    big, small = folder("one/model"), folder("two/model", seed=1)
    monkeypatch.chdir(tmp_path / "one")
    pair = on_cpu("./model/", small)
    assert pair.info == PairInfo("model+model (draft)", "model", "model (draft)", len(WORDS))
    assert (pair.target.name, pair.draft.name) == ("model", "model (draft)")
    assert on_cpu(big, "model").info.draft == "model"
    assert str(tmp_path) not in decode(pair, "the cat", chat=False, max_new_tokens=2).to_json()


def test_equal_sizes_with_two_words_swapped_are_refused_with_both_names_and_the_words(folder):
    swapped = ["<unk>", "dog", "cat", *WORDS[3:]]
    with pytest.raises(PairRefused) as refusal:
        on_cpu(folder("big"), folder("small", swapped))
    message = str(refusal.value)
    assert all(part in message for part in ("big", "small", "id 1", "'cat'", "'dog'"))


@pytest.mark.parametrize("theirs", [WORDS[:-1], [*WORDS, "extra"]], ids=["fewer", "more"])
def test_a_shorter_or_longer_vocabulary_is_refused(folder, theirs):
    with pytest.raises(PairRefused, match="tokenizer"):
        on_cpu(folder("big"), folder("small", theirs))


def test_a_refused_draft_leaves_prompt_lookup(folder):
    pair = on_cpu(folder("big"), None)
    assert len(decode(pair, "the cat the", chat=False, drafter="prompt_lookup", max_new_tokens=4).output.ids) == 4
    with pytest.raises(BadInput, match="prompt_lookup"):
        decode(pair, "the cat", chat=False)


def test_embeddings_padded_to_different_sizes_are_accepted_and_padding_is_never_emitted(folder):
    """Most ids of these two random models are padding, so without a mask it would win at once."""
    pair = on_cpu(folder("big", vocab_size=320), folder("small", vocab_size=288, seed=1))
    assert pair.info.vocab_size == len(WORDS)
    for seed in range(5):
        trace = decode(pair, "the cat", chat=False, seed=seed, temperature=2.0, max_new_tokens=20)
        assert max(trace.output.ids) < len(WORDS)
        assert all(candidate.id < len(WORDS) for position in trace.positions for candidate in position.candidates)


@pytest.mark.parametrize(("declared", "expected"), [([1, 7], {1, 2, 7}), (5, {2, 5}), (2, {2}), (None, {2})])
def test_a_text_ends_where_the_generation_config_or_the_tokenizer_says(folder, declared, expected):
    assert on_cpu(folder("big", eos=declared, eos_token="dog"), None).eos_ids == expected


def test_a_model_that_declares_no_end_of_text_has_none(folder):
    assert on_cpu(folder("big"), None).eos_ids == set()


def test_a_text_ends_where_the_chat_template_closes_a_turn(folder):
    template = "{% for m in messages %}{{ m.content }} mat{% endfor %}"
    pair = on_cpu(folder("big", eos=7, eos_token="dog", additional_special_tokens=["mat"], chat_template=template), None)
    assert pair.eos_ids == {2, 6, 7}


def test_a_run_stops_at_the_tokenizers_end_of_text(folder):
    """The generation config knows only id 2; the target says 4, 5, 15 and again, and 15 is the tokenizer's end."""
    from dataclasses import replace

    import torch

    from specdec.models.table import TableModel

    words = [f"t{index}" for index in range(16)]
    pair = on_cpu(folder("big", words, eos=2, eos_token="t15"), None)
    table = torch.full((16, 16), 1 / 16)
    for here, there in ((3, 4), (4, 5), (5, 15), (15, 4)):
        table[here] = torch.eye(16)[there]
    pair = replace(pair, target=TableModel(table), draft=TableModel(table))
    trace = decode(pair, "t3", chat=False, max_new_tokens=12)
    assert (trace.output.ids, trace.output.stop_reason) == ((4, 5, 15), "eos")


def test_a_target_whose_cache_cannot_be_rewound_is_refused_by_name(folder):
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(
        vocab_size=len(WORDS), hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=2, sliding_window=8,
    )  # fmt: skip
    with pytest.raises(BadInput, match="windowed.*sliding window"):
        on_cpu(folder("windowed", model=MistralForCausalLM(config)), None)


@pytest.mark.parametrize("name", ["no/such-model", "not a name", "../etc", ""])
def test_a_model_that_is_nowhere_is_refused_in_one_sentence(monkeypatch, name):
    monkeypatch.setattr("specdec.models.pairs.hub_is_reachable", lambda: False)
    with pytest.raises(WeightsUnavailable) as refusal:
        on_cpu(name, None)
    assert name in str(refusal.value) and "\n" not in str(refusal.value)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(WeightsUnavailable, match="no model in the folder.*config.json is missing"):
        on_cpu(str(tmp_path), None)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


HARMS = {
    "cut": cut,
    "empty": lambda path: path.write_bytes(b""),
    "null": lambda path: path.write_bytes(b"null"),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00" * 99),
}
FILES = ("model.safetensors", "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
@pytest.mark.parametrize("side", ["target", "draft"])
def test_a_damaged_folder_is_refused_in_one_sentence_that_names_it(folder, side, name, harm):
    target, draft = folder("big"), folder("small", seed=1)
    hurt = target if side == "target" else draft
    harm(Path(hurt) / name)
    with pytest.raises(WeightsUnavailable) as refusal:
        on_cpu(target, draft)
    assert Path(hurt).name in str(refusal.value) and "\n" not in str(refusal.value) and len(str(refusal.value)) < 500
    assert Path(hurt).parent.name not in str(refusal.value)


@pytest.mark.parametrize("name", FILES[1:])
def test_a_cut_settings_file_is_named(folder, name):
    hurt = folder("big")
    cut(Path(hurt) / name)
    with pytest.raises(WeightsUnavailable, match=f"damaged: {name} is no JSON"):
        on_cpu(hurt, None)


@pytest.mark.parametrize(
    ("name", "word"), [("model.safetensors", "model"), ("tokenizer.json", "tokenizer"), ("config.json", "config.json")]
)
def test_a_missing_file_is_refused_in_one_sentence(folder, name, word):
    hurt = folder("big")
    (Path(hurt) / name).unlink()
    with pytest.raises(WeightsUnavailable, match=word) as refusal:
        on_cpu(hurt, None)
    assert Path(hurt).name in str(refusal.value) and "\n" not in str(refusal.value)
    assert Path(hurt).parent.name not in str(refusal.value)


def test_a_folder_behind_a_link_that_is_gone_or_damaged_is_never_told_by_its_path(folder, tmp_path):
    hurt, link = Path(folder("place/big")), tmp_path / "big"
    link.symlink_to(hurt)
    (hurt / "model.safetensors").unlink()
    with pytest.raises(WeightsUnavailable, match="The model of big could not be loaded") as damaged:
        on_cpu(str(link), None)
    link.unlink()
    with pytest.raises(WeightsUnavailable, match="no model in the folder big") as gone:
        on_cpu(str(link), None)
    assert not [refusal for refusal in (damaged, gone) if tmp_path.name in str(refusal.value)]


def test_a_missing_shard_is_refused_in_one_sentence(folder, tiny_llama):
    hurt = folder("big")
    (Path(hurt) / "model.safetensors").unlink()
    tiny_llama(vocab_size=len(WORDS)).save_pretrained(hurt, max_shard_size="10KB")
    assert on_cpu(hurt, None)
    sorted(Path(hurt).glob("model-*.safetensors"))[-1].unlink()
    with pytest.raises(WeightsUnavailable, match="big could not be loaded") as refusal:
        on_cpu(hurt, None)
    assert "\n" not in str(refusal.value)


def test_weights_that_are_not_there_are_never_made_up(folder):
    """transformers draws them at random, with no more than a warning."""
    from safetensors.torch import load_file, save_file

    hurt = folder("big")
    tensors = load_file(Path(hurt) / "model.safetensors")
    gone = [name for name in tensors if ".layers.1." in name]
    kept = {name: tensor for name, tensor in tensors.items() if name not in gone}
    save_file(kept, Path(hurt) / "model.safetensors", {"format": "pt"})
    with pytest.raises(WeightsUnavailable, match=f"big lacks {len(gone)} of its weights, such as {min(gone)}"):
        on_cpu(hurt, None)


def test_tied_weights_are_no_missing_ones(folder, tiny_llama):
    assert on_cpu(folder("tied", model=tiny_llama(vocab_size=len(WORDS), tie_word_embeddings=True)), None)


def test_an_unknown_pair_is_refused_with_the_list():
    for key in ("nope", None, [], np.array(["smollm2-135m+student", "x"])):
        with pytest.raises(BadInput, match="^pair must be one of .*smollm2-135m"):
            load_pair(key)


def test_a_pair_of_the_catalogue_is_loaded_as_its_line_says_unless_the_caller_says_otherwise(folder):
    spec = PairSpec("own", "Own", folder("big"), folder("small", seed=1), "ours", dtype="bfloat16", device="cpu")
    with offering(spec):
        assert (first_pair(), list(CATALOGUE)[1]) == ("own", DEFAULT_PAIR)
        pair = load_pair("own")
        assert (pair.info.name, pair.info.target, pair.dtype) == ("own", "big", "bfloat16")
        assert load_pair("own", dtype="float32").dtype == "float32"
    assert first_pair() == DEFAULT_PAIR


def test_the_catalogue_has_unique_keys_and_its_first_pair_needs_no_hub():
    assert list(CATALOGUE)[0] == "smollm2-135m+student"
    assert all(spec.key == key and spec.title and spec.note for key, spec in CATALOGUE.items())


@pytest.mark.parametrize("prompt", ["", None, 7, ["the"]])
def test_a_prompt_that_is_no_text_is_refused(table_pair, prompt):
    with pytest.raises(BadInput, match="prompt"):
        decode(table_pair([1, 1], [1, 1]), prompt, chat=False)


@pytest.mark.parametrize("prompt", ["\ud800", "a\udfff b"])
def test_a_prompt_with_half_a_character_is_refused(table_pair, prompt):
    """JSON can carry a lone surrogate; no tokenizer and no file can."""
    with pytest.raises(BadInput, match="prompt"):
        decode(table_pair([1, 1], [1, 1]), prompt, chat=False)


def test_a_huge_prompt_is_refused_before_it_is_tokenised(table_pair):
    with pytest.raises(BadInput, match="100,001"):
        decode(table_pair([1, 1], [1, 1]), "x" * 100_001, chat=False)


def test_a_pair_without_a_chat_template_asks_for_raw_text(table_pair):
    with pytest.raises(BadInput, match="chat template.*raw"):
        decode(table_pair([1, 1], [1, 1]), "t1", chat=True)


@pytest.mark.parametrize(("prompt", "ids"), [("  ", [256]), ("\n", [198])], ids=ascii)
def test_blank_prompts_are_real_tokens(default_pair, prompt, ids):
    assert default_pair.encode(prompt, chat=False) == ids
    trace = decode(default_pair, prompt, chat=False, max_new_tokens=2)
    assert [token.text for token in trace.prompt.tokens] == [prompt]


def test_a_chat_prompt_is_the_template_with_the_assistants_turn_opened(default_pair):
    ids = default_pair.encode("Hi", chat=True)
    turn = [{"role": "user", "content": "Hi"}]
    template = default_pair.tokenizer.apply_chat_template(turn, add_generation_prompt=True, tokenize=False)
    shown = "".join(token.text for token in default_pair.texts.sequence(ids))
    assert shown == template and shown.endswith("<|im_start|>assistant\n") and "system" in shown
    assert default_pair.encode("Hi", chat=False) == default_pair.tokenizer("Hi")["input_ids"]


def test_a_beginning_of_text_is_never_doubled(pair_of, word_tokenizer):
    """The tokenizer adds the mark by itself, and the template writes it too."""
    from dataclasses import replace

    from tokenizers.processors import TemplateProcessing

    from specdec.models.table import TableModel

    tokenizer = word_tokenizer(["<unk>", "<s>", "Hi", "assistant"], bos_token="<s>")
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.chat_template = "<s> {{ messages[0].content }} assistant"
    pair = replace(pair_of(TableModel([1, 1, 1, 1])), tokenizer=tokenizer)
    assert pair.encode("Hi", chat=True) == [1, 2, 3]
    assert pair.encode("Hi", chat=False) == [1, 2]


def test_the_same_model_twice_is_loaded_once(folder):
    name = folder("big")
    pair = on_cpu(name, name)
    assert pair.target.model is pair.draft.model and pair.target is not pair.draft
    rounds = list(run(pair, [1, 5], Settings(max_new_tokens=20)))
    assert all(round_.accepted == len(round_.proposal) for round_ in rounds)


def test_the_public_names_are_there():
    assert all(getattr(specdec, name) for name in specdec.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        specdec.nothing
