"""Training batches from chunks: pure functions of the data, a seed and a step number, so that a run resumes exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from specdec.distill.data import Chunk

HELD_OUT_EVERY = 24
WHOLE_KINDS = ("raw", "own")


@dataclass(frozen=True)
class Row:
    """One row of one chunk."""

    chunk: int
    start: int
    length: int
    prompt_length: int
    kind: str


@dataclass(frozen=True)
class Batch:
    """Right-padded rows and the positions that are trained on.

    Attributes:
        ids: [rows, longest] token ids.
        positions: [n] places in the flattened [rows · longest] hidden states.
        teacher_index: [n, k] places in the head of the teacher's likeliest ids.
        teacher_probs: [n, k] float32, 0 for ids outside the head.
        tokens: ids that aren't padding.
    """

    ids: Tensor
    positions: Tensor
    teacher_index: Tensor
    teacher_probs: Tensor
    tokens: int

    def to(self, device: torch.device) -> Batch:
        """The same batch on a device."""
        moved = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **moved)


class Dataset:
    """Chunks in memory, split into training and held-out rows; two answers to one prompt stay together."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        head_ids: Tensor,
        vocab_size: int,
        prompt_share: float = 0.25,
        longest: int = 1100,
    ) -> None:
        self.chunks = list(chunks)
        self.head_ids, self.prompt_share = head_ids, prompt_share
        self.place = np.full(vocab_size, -1, np.int32)
        self.place[head_ids.numpy()] = np.arange(len(head_ids), dtype=np.int32)
        self.training: list[Row] = []
        self.held_out: list[Row] = []
        for number, chunk in enumerate(self.chunks):
            for row, start in enumerate(chunk.starts):
                length = min(int(chunk.lengths[row]), longest)
                found = Row(number, int(start), length, int(chunk.prompt_lengths[row]), str(chunk.kinds[row]))
                (self.held_out if row // 2 % HELD_OUT_EVERY == 3 else self.training).append(found)

    @property
    def answer_tokens(self) -> int:
        """Distinct answer tokens in the training rows."""
        return sum(row.length - row.prompt_length for row in self.training)

    def sample(self, tokens: int, seed: int = 0) -> list[Tensor]:
        """[n] ids of each of some training rows, of so many tokens in all or a little more."""
        found, count = [], 0
        for index in np.random.default_rng(seed).permutation(len(self.training)):
            row = self.training[index]
            if count >= tokens:
                break
            found.append(torch.from_numpy(self.chunks[row.chunk].ids[row.start : row.start + row.length].astype(np.int64)))
            count += row.length
        return found

    def plan(self, epoch: int, seed: int, budget: int) -> list[list[int]]:
        """One pass over the training rows in shuffled batches of at most `budget` padded tokens, of similar lengths."""
        chance = np.random.default_rng((seed, epoch))
        jitter = chance.uniform(0.9, 1.1, len(self.training))
        order = np.argsort([row.length * scale for row, scale in zip(self.training, jitter, strict=True)])
        batches: list[list[int]] = [[]]
        longest = 0
        for index in order:
            longest = max(longest, self.training[index].length)
            if batches[-1] and (len(batches[-1]) + 1) * longest > budget:
                batches.append([])
                longest = self.training[index].length
            batches[-1].append(int(index))
        return [batches[index] for index in chance.permutation(len(batches))]

    def batch(self, rows: Sequence[Row], chance: np.random.Generator | None) -> Batch:
        """Rows as a batch. With `chance`, a share of the prompts' positions is trained on too; else answers only."""
        longest = max(row.length for row in rows)
        ids = np.zeros((len(rows), longest), np.int64)
        positions, top_ids, top_logprobs = [], [], []
        for number, row in enumerate(rows):
            chunk = self.chunks[row.chunk]
            ids[number, : row.length] = chunk.ids[row.start : row.start + row.length]
            steps = np.arange(row.length - 1)
            keep = steps >= row.prompt_length - 1
            if chance is not None:
                keep |= chance.random(len(steps)) < self.prompt_share
            elif row.kind in WHOLE_KINDS:
                keep &= steps >= row.prompt_length + 3
            steps = steps[keep]
            positions.append(number * longest + steps)
            top_ids.append(chunk.top_ids[row.start + steps])
            top_logprobs.append(chunk.top_logprobs[row.start + steps])
        place = self.place[np.concatenate(top_ids)]
        probs = np.exp(np.concatenate(top_logprobs).astype(np.float32)) * (place >= 0)
        return Batch(
            ids=torch.from_numpy(ids),
            positions=torch.from_numpy(np.concatenate(positions)),
            teacher_index=torch.from_numpy(np.maximum(place, 0).astype(np.int64)),
            teacher_probs=torch.from_numpy(probs),
            tokens=sum(row.length for row in rows),
        )
