"""Let the target write its own training data, chunk by chunk. A chunk depends on the seed, its number and the
chunks before it alone, so that a stopped run goes on where it was.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from transformers import LlamaForCausalLM, PreTrainedTokenizerBase

from specdec.distill.corpus import Corpus
from specdec.distill.data import Chunk, load_chunk, pack, save_chunk
from specdec.distill.prompts import LONG_KINDS, SHORT_KINDS, Prompt, Sources, make_prompts
from specdec.distill.teacher import Teacher

TEMPERATURES = (0.0, 0.0, 0.3, 0.6, 0.8, 1.0, 1.0, 1.0)
OWN_TEMPERATURES = (0.6, 0.8, 1.0)
RAW_CHUNKS = 1
PROSE_KINDS = ("raw", "writing", "science", "humanities")
END_OF_TEXT = "<|endoftext|>"


@dataclass(frozen=True)
class GenerateSettings:
    """Sizes of the run.

    Attributes:
        chunks: how many to have in the end.
        short_rows, long_rows: answers a chunk without and with passages.
        answers_a_passage: answers to each prompt with passages, which take longer to read than to answer.
        max_new_tokens: longest answer.
        max_prompt_tokens: longer prompts lose their middle.
        seed: of the whole run.
    """

    chunks: int = 40
    short_rows: int = 288
    long_rows: int = 192
    answers_a_passage: int = 2
    max_new_tokens: int = 200
    max_prompt_tokens: int = 800
    seed: int = 1


def generate(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerBase,
    corpus: Corpus,
    folder: Path,
    settings: GenerateSettings,
) -> None:
    """Write the missing chunks of `folder`, with a progress line for each."""
    teacher = Teacher(model)
    written: list[str] = []
    conversations: list[tuple[str, str]] = []
    began, done_tokens = time.monotonic(), 0
    for number in range(settings.chunks):
        path = folder / f"chunk-{number:04d}.npz"
        if path.exists():
            chunk = load_chunk(path)
        else:
            chance = random.Random(settings.seed * 1_000_003 + number)
            sources = Sources(corpus, written, conversations)
            chunk = _write_chunk(teacher, tokenizer, sources, number, chance, settings)
            save_chunk(path, chunk)
            answer_tokens = int((chunk.lengths - chunk.prompt_lengths).sum())
            done_tokens += answer_tokens
            rate = done_tokens / (time.monotonic() - began)
            print(
                f"chunk {number + 1}/{settings.chunks}: {len(chunk.lengths)} rows, "
                f"{answer_tokens} answer + {int(chunk.prompt_lengths.sum())} prompt tokens; "
                f"{rate:.0f} answer tokens/s",
                flush=True,
            )
        written += _texts(chunk, tokenizer)
        conversations += _conversations(chunk, tokenizer)


def score(model: LlamaForCausalLM, conversations: Path, folder: Path, rows_a_chunk: int = 256) -> None:
    """Chunks with the target's distributions along conversations it wrote earlier.

    Args:
        conversations: npz with `ids` (all conversations one after the other), `prompt_lengths` and `answer_lengths`.
    """
    teacher = Teacher(model)
    with np.load(conversations, allow_pickle=False) as arrays:
        prompt_lengths, lengths = arrays["prompt_lengths"], arrays["prompt_lengths"] + arrays["answer_lengths"]
        rows = [part.tolist() for part in np.split(arrays["ids"].astype(np.int64), np.cumsum(lengths)[:-1])]
    for number, start in enumerate(range(0, len(rows), rows_a_chunk)):
        path = folder / f"chunk-{number:04d}.npz"
        if not path.exists():
            part = slice(start, start + rows_a_chunk)
            scored = teacher.score(rows[part], prompt_lengths[part].tolist())
            save_chunk(path, pack(scored, ["given"] * len(scored), [1.0] * len(scored)))
            print(f"scored {min(start + rows_a_chunk, len(rows))}/{len(rows)} conversations", flush=True)


def _write_chunk(
    teacher: Teacher,
    tokenizer: PreTrainedTokenizerBase,
    sources: Sources,
    number: int,
    chance: random.Random,
    settings: GenerateSettings,
) -> Chunk:
    is_raw = number < RAW_CHUNKS
    is_long = not is_raw and (number - RAW_CHUNKS) % 3 == 1
    answers = settings.answers_a_passage if is_long else 1
    shares = {"raw": 1} if is_raw else LONG_KINDS if is_long else {**SHORT_KINDS, "raw": 4}
    rows = settings.long_rows if is_long else settings.short_rows
    prompts = make_prompts(rows // answers, shares, sources, chance)
    prompts = [prompt for prompt in prompts for _ in range(answers)]
    ids = [_clip(encode(prompt, tokenizer), settings.max_prompt_tokens) for prompt in prompts]
    temperatures = [
        chance.choice(OWN_TEMPERATURES) if prompt.kind in {"raw", "own"} else chance.choice(TEMPERATURES)
        for prompt in prompts
    ]
    order = sorted(range(len(prompts)), key=lambda row: len(ids[row]))
    written = teacher.write(
        [ids[row] for row in order],
        [temperatures[row] for row in order],
        [prompts[row].stops for row in order],
        settings.max_new_tokens + (60 if is_raw else 0),
        tokenizer.eos_token_id,
        seed=chance.getrandbits(40),
    )
    return pack(written, [prompts[row].kind for row in order], [temperatures[row] for row in order])


def encode(prompt: Prompt, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Token ids of a prompt: the chat template up to the answer, or to the user's words if the target writes those."""
    if prompt.kind == "raw":
        return [
            tokenizer.convert_tokens_to_ids(END_OF_TEXT),
            *tokenizer(prompt.raw, add_special_tokens=False)["input_ids"],
        ]
    if not prompt.messages:
        text = tokenizer.apply_chat_template([{"role": "user", "content": "\0"}], tokenize=False).split("\0")[0]
    else:
        messages = [
            {"role": "assistant" if turn % 2 else "user", "content": content}
            for turn, content in enumerate(prompt.messages)
        ]
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def _clip(ids: list[int], longest: int) -> list[int]:
    if len(ids) <= longest:
        return ids
    head = longest // 2
    return ids[:head] + ids[len(ids) - (longest - head) :]


def _texts(chunk: Chunk, tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Prose of a chunk, as passages for later prompts."""
    texts = []
    for kind, start, prompt, length in zip(chunk.kinds, chunk.starts, chunk.prompt_lengths, chunk.lengths, strict=True):
        if kind in PROSE_KINDS:
            begin = start if kind == "raw" else start + prompt
            text = " ".join(tokenizer.decode(chunk.ids[begin : start + length], skip_special_tokens=True).split())
            if len(text) > 150:
                texts.append(text)
    return texts


def _conversations(chunk: Chunk, tokenizer: PreTrainedTokenizerBase) -> list[tuple[str, str]]:
    """Finished first turns of short prompts as (question, answer) texts."""
    pairs = []
    stop = tokenizer.eos_token_id
    for kind, start, prompt, length in zip(chunk.kinds, chunk.starts, chunk.prompt_lengths, chunk.lengths, strict=True):
        ids = chunk.ids[start : start + length]
        if kind not in SHORT_KINDS or kind in {"own", "translation"} or ids[-1] != stop:
            continue
        question = (
            tokenizer.decode(ids[:prompt], skip_special_tokens=False)
            .split("<|im_start|>user\n")[-1]
            .split("<|im_end|>")[0]
        )
        pairs.append((question, tokenizer.decode(ids[prompt : length - 1]).strip()))
    return pairs
