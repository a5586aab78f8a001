"""Between texts and ids: prompts as a model reads them, and where a chat turn ends.

What a person types is text. Only a tokenizer's own template and its chat template write control tokens, so
'<|im_end|>' in a prompt is the ten characters that it is and ends no turn.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from jinja2 import TemplateError

from specdec.settings import BadInput

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Whether control tokens are split is set on the tokenizer itself, for whoever reads with it meanwhile too.
_ONE_READER = threading.Lock()
_QUESTION, _ANSWER = "A question?", "An answer."


def encode(tokenizer: PreTrainedTokenizerBase, prompt: str, *, chat: bool) -> list[int]:
    """Ids of `prompt`: as a user's turn with the assistant's turn opened behind it, or as raw text to go on with.

    Raises `BadInput` where the tokenizer can read a part of the prompt only as a control token.
    """
    with _ONE_READER:
        return _chat_ids(tokenizer, prompt) if chat else _raw_ids(tokenizer, prompt)


def turn_ends(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The control token that the chat template writes right behind an assistant's turn; empty if there is none."""
    if not tokenizer.chat_template:
        return frozenset()
    turns = [("user", _QUESTION), ("assistant", _ANSWER), ("user", _QUESTION)]  # some close a turn before the next only
    try:
        text = tokenizer.apply_chat_template([{"role": role, "content": said} for role, said in turns], tokenize=False)
    except TemplateError:
        return frozenset()
    _, _, behind = text.partition(_ANSWER)
    first = tokenizer(behind.lstrip(), add_special_tokens=False)["input_ids"][:1]
    return _control_ids(tokenizer) & set(first)


def _chat_ids(tokenizer: PreTrainedTokenizerBase, prompt: str) -> list[int]:
    turn = [{"role": "user", "content": prompt}]
    named = tokenizer.added_tokens_decoder.keys() & set(tokenizer(prompt, add_special_tokens=False)["input_ids"])
    try:
        return tokenizer.apply_chat_template(
            turn,
            add_generation_prompt=True,
            return_dict=True,
            sanitize_control_tokens=bool(named),  # never in vain: it takes two private-use characters out of a text
        )["input_ids"]
    except ValueError as fault:
        if not named:
            raise
        raise _refusal(tokenizer, named) from fault


def _raw_ids(tokenizer: PreTrainedTokenizerBase, prompt: str) -> list[int]:
    """With what the tokenizer puts before a text, without what it puts behind one: the text is to go on."""
    read = tokenizer(prompt, split_special_tokens=True, return_special_tokens_mask=True)
    ids = list(read["input_ids"])
    typed = [place for place, put in enumerate(read["special_tokens_mask"]) if not put]
    control = _control_ids(tokenizer) & {ids[place] for place in typed}
    if control:
        raise _refusal(tokenizer, control)
    return ids[: typed[-1] + 1] if typed else []


def _control_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Special ids; the one of unknown words is none, since any text may hold such."""
    special = {token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special}
    return frozenset(special - {tokenizer.unk_token_id})


def _refusal(tokenizer: PreTrainedTokenizerBase, ids: Iterable[int]) -> BadInput:
    names = ", ".join(repr(tokenizer.added_tokens_decoder[token_id].content) for token_id in sorted(ids))
    return BadInput(
        "The prompt holds {names}, which this model's tokenizer can only read as a control token; leave it out.",
        names=names,
    )
