"""Tokens as a person should see them: whole characters once, no inner alphabet, nothing invisible or changed."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from specdec.recording import decode
from specdec.trace.tokens import TokenTexts

TEXTS = [
    "Seán naïve café γεια",
    "hello world\n  if x:\n\treturn",
    "\r\n",
    "y is ?",
    "x != y and a.b == c",
    "':'search",
    "日本語",
    "\U0001f984 and \U0001f4a9",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "é",
    "e\u0301",
    "\ufb01",
    "<b>bold</b> $x^2$ {{x}} **x** <script>",
    "a\x00b\x7f",
    "  ",
    "\n",
    "   trailing   ",
]


@pytest.fixture(scope="module")
def texts(smollm2_tokenizer) -> TokenTexts:
    return TokenTexts(smollm2_tokenizer)


def ids_of(tokenizer, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_token_texts_joined_are_the_text_that_was_entered(texts, smollm2_tokenizer, text):
    ids = ids_of(smollm2_tokenizer, text)
    tokens = texts.sequence(ids)
    assert [token.id for token in tokens] == ids
    assert "".join(token.text for token in tokens) == text
    assert all("\ufffd" not in token.text and "Ġ" not in token.text and "Ċ" not in token.text for token in tokens)
    assert all(token.text or token.bytes for token in tokens), "a token with nothing to show"


def test_token_texts_joined_are_what_the_tokenizer_decodes(texts, smollm2_tokenizer):
    generator = torch.Generator().manual_seed(0)
    for _ in range(30):
        ids = torch.randint(0, 49_152, (60,), generator=generator).tolist()
        whole = smollm2_tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        assert "".join(token.text for token in texts.sequence(ids)) == whole.replace("\ufffd", "")


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("\U0001f984", [10813, 116, 222]),
        ("y is ?", [105, 314, 9148]),
        ("é", [2756]),
        ("e\u0301", [85, 151, 219]),
    ],
    ids=ascii,
)
def test_the_prompt_is_not_normalised_on_its_way(smollm2_tokenizer, text, ids):
    assert ids_of(smollm2_tokenizer, text) == ids


@pytest.mark.parametrize(("text", "count"), [("日本語", 6), ("\r\n", 1), (TEXTS[1], 9), (TEXTS[8], 18)], ids=ascii)
def test_the_number_of_tokens_is_not_hidden(texts, smollm2_tokenizer, text, count):
    assert len(texts.sequence(ids_of(smollm2_tokenizer, text))) == count


def test_a_split_character_is_drawn_once_and_its_parts_show_their_bytes(texts):
    tokens = texts.sequence([10813, 116, 222])
    assert [token.text for token in tokens] == ["", "", "\U0001f984"]
    assert [token.bytes for token in tokens] == ["F0 9F", "A6", "84"]


def test_a_part_of_a_character_alone_shows_its_bytes(texts):
    alone = texts.alone(10813)
    assert (alone.text, alone.bytes) == ("", "F0 9F")


def test_whole_characters_show_no_bytes(texts, smollm2_tokenizer):
    for text in ("hello é 日"[:7], "\n\t", " "):
        assert all(token.bytes is None for token in texts.sequence(ids_of(smollm2_tokenizer, text)))


def test_what_follows_a_broken_character_is_whole_again(texts, smollm2_tokenizer):
    """A text cut inside an emoji, then a letter and the end of the turn: neither is a part of it."""
    letter, end = smollm2_tokenizer.convert_tokens_to_ids(["a", "<|im_end|>"])
    broken, following, special = texts.sequence([10813, letter, end])
    assert (broken.text, broken.bytes) == ("", "F0 9F")
    assert (following.text, following.bytes) == ("a", None)
    assert (special.text, special.bytes, special.special) == ("<|im_end|>", None, True)
    assert texts.sequence([10813, end])[1].bytes is None


def test_special_tokens_are_marked_and_their_look_alikes_are_not(texts, smollm2_tokenizer):
    special = texts.sequence([smollm2_tokenizer.convert_tokens_to_ids("<|im_start|>")])
    assert special[0].special and special[0].text == "<|im_start|>"
    assert not any(token.special for token in texts.sequence(ids_of(smollm2_tokenizer, "<im_start> <think>")))


def test_spaces_of_two_tokens_that_look_alike_tell_them_apart(texts, smollm2_tokenizer):
    (spaced,), (bare,) = ids_of(smollm2_tokenizer, " a"), ids_of(smollm2_tokenizer, "a")
    assert (texts.alone(spaced).text, texts.alone(bare).text) == (" a", "a")


def test_an_id_without_a_token_shows_nothing_and_breaks_nothing(texts):
    assert texts.alone(49_999).text == ""


def test_a_tokenizer_with_byte_fallback_shows_spaces_and_bytes():
    pieces = ["<unk>", "\u2581hello", "\u2581", "<0xF0>", "<0x9F>", "<0xA6>", "<0x84>", "<0x0A>", "x"]
    backend = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, [], byte_fallback=True))
    backend.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    texts = TokenTexts(PreTrainedTokenizerFast(tokenizer_object=backend))
    tokens = texts.sequence([8, 1, 2, 3, 4, 5, 6, 7])
    assert [token.text for token in tokens] == ["x", " hello", " ", "", "", "", "\U0001f984", "\n"]
    assert [token.bytes for token in tokens] == [None, None, None, "F0", "9F", "A6", "84", None]


BY_HAND = ["<｜end▁of▁turn｜>", "日本", "\u2581\u2581", "Ġ日", "naïve\u2581"]


def test_a_piece_outside_the_byte_alphabet_is_its_own_text(byte_tokenizer):
    """Vocabularies hold pieces that were put in by hand, beside those that training made of bytes."""
    tokenizer = byte_tokenizer(BY_HAND)
    ids = [tokenizer.convert_tokens_to_ids(piece) for piece in BY_HAND]
    tokens = TokenTexts(tokenizer).sequence(ids)
    assert [(token.text, token.bytes) for token in tokens] == [(piece, None) for piece in BY_HAND]
    assert "".join(token.text for token in tokens) == tokenizer.decode(ids)


def test_a_piece_outside_the_byte_alphabet_can_be_emitted_and_weighed(pair_of, byte_tokenizer):
    """The target says every such piece with the same probability, so the run has them as tokens and candidates."""
    from dataclasses import replace

    from specdec.models.table import TableModel

    law = torch.zeros(256 + len(BY_HAND))
    law[256:] = 1.0
    pair = replace(pair_of(TableModel(law), TableModel(law)), tokenizer=byte_tokenizer(BY_HAND))
    trace = decode(pair, "a", chat=False, gamma=2, max_new_tokens=8)
    assert trace.output.text == pair.tokenizer.decode(trace.output.ids)
    assert {c.text for position in trace.positions for c in position.candidates} == set(BY_HAND)


WITH_PREFIX = ["<unk>", "<s>", "\u2581This", "\u2581is", "\u2581a", "\u2581test", "\u2581", "\u2581\u2581x"]


def prefixing(kind: str) -> PreTrainedTokenizerFast:
    """A tokenizer that puts a space before the first word and takes it away when it decodes, in three ways."""
    unigram = models.Unigram([(piece, -1.0 - 8 * (piece == "\u2581")) for piece in WITH_PREFIX], unk_id=0)
    backend = Tokenizer(unigram)
    if kind == "normalizer":  # Llama 2
        backend.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
        strip = decoders.Strip(" ", 1, 0)
        backend.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), strip])
    else:
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=kind)
        backend.decoder = decoders.Metaspace(prepend_scheme=kind)
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>")


@pytest.mark.parametrize("kind", ["normalizer", "first", "always"])
@pytest.mark.parametrize("text", ["This is a test", "<s> This is a test", " This", "This <s> is", "This"])
def test_the_space_put_before_a_text_is_not_shown(kind, text):
    tokenizer = prefixing(kind)
    ids = ids_of(tokenizer, text)
    decoded = tokenizer.decode(ids, skip_special_tokens=False)
    assert "".join(token.text for token in TokenTexts(tokenizer).sequence(ids)) == decoded


@pytest.mark.parametrize("kind", ["normalizer", "first", "always"])
def test_a_text_that_goes_on_keeps_its_first_space(kind):
    tokenizer = prefixing(kind)
    texts = TokenTexts(tokenizer)
    before, after = ids_of(tokenizer, "This is a test")[:2], ids_of(tokenizer, "This is a test")[2:]
    joined = "".join(token.text for token in texts.sequence(before)) + "".join(map(texts.spelling(), after))
    assert joined == "This is a test" and texts.alone(after[0]).text == " a"


@pytest.mark.parametrize(("kind", "text"), [("normalizer", " x"), ("first", "x"), ("always", "x")])
def test_a_first_token_of_several_spaces_loses_what_its_decoder_takes(kind, text):
    tokenizer = prefixing(kind)
    token, following = TokenTexts(tokenizer).sequence(tokenizer.convert_tokens_to_ids(["\u2581\u2581x", "\u2581a"]))
    assert (token.text, token.bytes, following.text) == (text, None, " a")
    assert token.text + following.text == tokenizer.decode([token.id, following.id])


@pytest.mark.parametrize("kind", ["normalizer", "first", "always"])
def test_a_first_token_that_is_only_the_space_shows_its_byte(kind):
    tokenizer = prefixing(kind)
    token, following = TokenTexts(tokenizer).sequence(tokenizer.convert_tokens_to_ids(["\u2581", "\u2581a"]))
    assert (token.text, token.bytes, following.text) == ("", "20", " a")
    assert following.text == tokenizer.decode([token.id, following.id])


def test_a_run_on_a_prefixing_tokenizer_is_read_and_stopped_as_it_is_shown(pair_of):
    from dataclasses import replace

    from specdec.models.table import TableModel

    table = torch.full((len(WITH_PREFIX),) * 2, 1 / len(WITH_PREFIX))
    for here, there in ((2, 3), (3, 4), (4, 5), (5, 2)):
        table[here] = torch.eye(len(WITH_PREFIX))[there]
    pair = replace(pair_of(TableModel(table), TableModel(table)), tokenizer=prefixing("first"))
    trace = decode(pair, "This is", chat=False, gamma=2, max_new_tokens=4)
    assert "".join(token.text for token in trace.prompt.tokens) == "This is"
    assert trace.output.text == " a test This is"
    stopped = decode(pair, "This is", chat=False, gamma=2, max_new_tokens=4, stop_strings=(" a",))
    assert (stopped.output.text, stopped.output.stop_reason) == (" a", "stop_string")


def test_an_emoji_written_by_the_target_never_passes_through_a_replacement_mark(pair_of, byte_tokenizer):
    """The target says the unicorn's four bytes again and again; drafts cut the emoji at every place."""
    from specdec.models.pairs import Pair
    from specdec.models.table import TableModel
    from specdec.recording import stream

    tokenizer = byte_tokenizer()
    order = tokenizer("\U0001f984")["input_ids"]
    table = torch.zeros(256, 256)
    table[:, order[0]] = 1
    for here, there in zip(order, order[1:]):
        table[here] = torch.eye(256)[there]
    base = pair_of(TableModel(table), TableModel(table), words=[f"t{i}" for i in range(256)])
    pair = Pair(base.info, base.target, base.draft, tokenizer, frozenset(), "float32")
    seen = [t.output.text for t in stream(pair, "a", chat=False, gamma=2, temperature=0.0, max_new_tokens=12)]
    assert seen[-1] == "\U0001f984" * 3
    assert all(seen[-1].startswith(text) for text in seen)
    trace = decode(pair, "a", chat=False, gamma=2, temperature=0.0, max_new_tokens=10)
    assert trace.output.text == "\U0001f984" * 2
