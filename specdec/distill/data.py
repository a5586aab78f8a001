"""Chunks of distillation data on disk: rows of token ids with the target's likeliest next ids at every position."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specdec.distill.teacher import Written


@dataclass(frozen=True)
class Chunk:
    """Rows laid end to end. Row i owns `lengths[i]` ids and as many rows of `top_ids`; the last of these is unused.

    Attributes:
        ids: [tokens] uint16.
        lengths: [rows] int32 ids in a row, prompt and answer.
        prompt_lengths: [rows] int32.
        kinds: [rows] kind of prompt.
        temperatures: [rows] float16 at which the answer was drawn.
        top_ids: [tokens, k] uint16 likeliest ids to follow each position.
        top_logprobs: [tokens, k] float16 their natural-log probabilities.
    """

    ids: np.ndarray
    lengths: np.ndarray
    prompt_lengths: np.ndarray
    kinds: np.ndarray
    temperatures: np.ndarray
    top_ids: np.ndarray
    top_logprobs: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """[rows] where each row begins in `ids`."""
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)


def pack(written: Sequence[Written], kinds: Sequence[str], temperatures: Sequence[float]) -> Chunk:
    """A chunk of what the target wrote, in the given order."""
    keep = written[0].top_ids.shape[1]
    filler_ids, filler_logprobs = np.zeros((1, keep), np.uint16), np.full((1, keep), -60000, np.float16)
    return Chunk(
        ids=np.concatenate([np.asarray(row.ids, np.uint16) for row in written]),
        lengths=np.asarray([len(row.ids) for row in written], np.int32),
        prompt_lengths=np.asarray([row.prompt_length for row in written], np.int32),
        kinds=np.asarray(kinds),
        temperatures=np.asarray(temperatures, np.float16),
        top_ids=np.concatenate(
            [part for row in written for part in (row.top_ids.numpy().astype(np.uint16), filler_ids)]
        ),
        top_logprobs=np.concatenate([part for row in written for part in (row.top_logprobs.numpy(), filler_logprobs)]),
    )


def save_chunk(path: Path, chunk: Chunk) -> None:
    """Write a chunk so that a half file is never seen under its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half.npz")
    np.savez(half, **vars(chunk))
    os.replace(half, path)


def load_chunk(path: Path) -> Chunk:
    """Read a chunk; never unpickles."""
    with np.load(path, allow_pickle=False) as arrays:
        return Chunk(**{name: arrays[name] for name in Chunk.__dataclass_fields__})


def chunk_paths(folder: Path) -> list[Path]:
    """The finished chunks of a folder, in order."""
    return sorted(path for path in folder.glob("chunk-*.npz") if not path.name.endswith(".half.npz"))


def commonest_ids(chunks: Sequence[Chunk], count: int) -> np.ndarray:
    """[count] int32 increasing ids: those with the most teacher probability over the answers."""
    mass = np.zeros(2**16)
    for chunk in chunks:
        place = np.arange(len(chunk.ids)) - np.repeat(chunk.starts, chunk.lengths)
        answer = place >= np.repeat(chunk.prompt_lengths, chunk.lengths) - 1
        np.add.at(mass, chunk.top_ids[answer].ravel(), np.exp(chunk.top_logprobs[answer].astype(np.float32)).ravel())
    return np.sort(np.argsort(-mass, kind="stable")[:count]).astype(np.int32)
