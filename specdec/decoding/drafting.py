"""Where drafts come from: a small model, or the text so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Protocol

import torch
from torch import Tensor

from specdec.decoding.lengths import Doubt, LengthPolicy
from specdec.decoding.probabilities import draw, probabilities
from specdec.models.interface import LanguageModel
from specdec.settings import MAX_GAMMA, Sampling
from specdec.trace.record import DraftingStop


@dataclass(frozen=True)
class Proposal:
    """n drafted tokens. ids: int64 [n]; probs: float32 [n, V], the very laws they were drawn from.

    reported: what the drafter tells the rule; the same tensor, unless a fault is on show.
    copied: how many were copied from the text, and drawn by nothing: the first ones. uniforms: what drew the rest.
    stopped: why there are no more, if that was the drafter's or the policy's choice; doubt: the policy's.
    """

    ids: Tensor
    probs: Tensor
    reported: Tensor
    uniforms: tuple[float, ...]
    copied: int = 0
    stopped: DraftingStop | None = None
    doubt: Doubt | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def first(self, count: int) -> Proposal:
        """The proposal without what stands behind its first `count` drafts."""
        return replace(
            self,
            ids=self.ids[:count],
            probs=self.probs[:count],
            reported=self.reported[:count],
            uniforms=self.uniforms[: max(0, count - self.copied)],
            copied=min(count, self.copied),
        )

    @classmethod
    def nothing(cls, vocab_size: int, device: torch.device) -> Proposal:
        ids = torch.empty(0, dtype=torch.int64, device=device)
        probs = torch.empty(0, vocab_size, device=device)
        return cls(ids, probs, probs, ())


class Drafter(Protocol):
    """Something that proposes tokens and can forget those that were refused. name: for sentences about it."""

    name: str

    def prefill(self, prompt_ids: Sequence[int]) -> None:
        """Forget everything, then read the prompt."""
        ...

    def room(self, committed: int) -> int:
        """How many tokens it could draft after `committed` tokens, at most."""
        ...

    def propose(self, committed: Sequence[int], uniforms: Sequence[float], policy: LengthPolicy) -> Proposal:
        """At most one draft for each uniform after the committed ids; fewer where the policy doubts."""
        ...

    def rewind(self, length: int) -> None:
        """Forget everything after the first `length` tokens."""
        ...


class ModelDrafter:
    """Drafts by sampling a small model, one token at a time.

    Its cache may lag behind the committed text (after a full accept it never saw its own last draft),
    so each round begins by feeding whatever it hasn't seen.
    """

    def __init__(self, model: LanguageModel, sampling: Sampling, reported: Sampling | None = None):
        self.name = model.name
        self.model = model
        self.sampling = sampling
        self.reported = reported or sampling

    def prefill(self, prompt_ids: Sequence[int]) -> None:
        self.model.rewind(0)
        if len(prompt_ids) <= self.model.max_length:
            self.model.prefill(torch.tensor(prompt_ids, dtype=torch.int64, device=self.model.device))

    def room(self, committed: int) -> int:
        return max(0, self.model.max_length - committed + 1)

    def propose(self, committed: Sequence[int], uniforms: Sequence[float], policy: LengthPolicy) -> Proposal:
        feed = torch.tensor(committed[self.model.length :], device=self.model.device)
        ids, probs, scores, doubt = [], [], [], None
        for uniform in uniforms:
            logits = self.model.extend(feed)[-1]
            law = probabilities(logits, self.sampling)
            feed = draw(law, uniform).reshape(1)
            ids.append(feed)
            probs.append(law)
            scores.append(logits)
            doubt = policy.doubt(logits, law, feed)
            if doubt:
                break
        laws = torch.stack(probs)
        honest = self.reported == self.sampling
        reported = laws if honest else probabilities(torch.stack(scores), self.reported)
        stopped = doubt.reason if doubt else None
        return Proposal(torch.cat(ids), laws, reported, tuple(uniforms[: len(ids)]), stopped=stopped, doubt=doubt)

    def rewind(self, length: int) -> None:
        self.model.rewind(min(length, self.model.length))


class PromptLookup:
    """Drafts by copying: what followed the most recent earlier occurrence of the last few tokens.

    Looks for the last `longest` tokens first, then for fewer, down to `shortest`, in prompt and output alike;
    a match must have a continuation, so the suffix never matches itself. A copy that reaches the end of the
    text goes on with what it has copied: a repetition is drafted as far as one asks. Nothing is drawn: each
    draft has probability 1 under q (a one-hot), which keeps every exact rule exact.
    Saxena 2023, "Prompt Lookup Decoding".
    """

    name = "Prompt lookup"

    def __init__(self, vocab_size: int, device: torch.device, *, longest: int = 3, shortest: int = 1):
        self.vocab_size = vocab_size
        self.device = device
        self.sizes = range(longest, shortest - 1, -1)
        self._behind: dict[tuple[int, ...], int] = {}  # some tokens: where the text went on after their last occurrence
        self._indexed = 0

    def prefill(self, prompt_ids: Sequence[int]) -> None:
        self._behind.clear()
        self._indexed = 0

    def room(self, committed: int) -> int:
        return MAX_GAMMA

    def propose(self, committed: Sequence[int], uniforms: Sequence[float], policy: LengthPolicy) -> Proposal:
        self._index(committed)
        copied = list(islice(cycle(self._continuation(committed)), len(uniforms)))
        ids = torch.tensor(copied, dtype=torch.int64, device=self.device)
        one_hot = torch.nn.functional.one_hot(ids, self.vocab_size).float()
        return Proposal(ids, one_hot, one_hot, (), copied=len(copied), stopped=None if copied else "no_match")

    def rewind(self, length: int) -> None:
        """Nothing to forget: only committed tokens are remembered."""

    def _index(self, committed: Sequence[int]) -> None:
        for end in range(self._indexed + 1, len(committed)):
            for size in self.sizes:
                if size <= end:
                    self._behind[tuple(committed[end - size : end])] = end
        self._indexed = len(committed) - 1

    def _continuation(self, committed: Sequence[int]) -> Sequence[int]:
        for size in self.sizes:
            start = self._behind.get(tuple(committed[-size:]))
            if start is not None:
                return committed[start:]
        return []


class LookupThenModel:
    """Copies where the last few tokens have occurred before, and lets the model draft where they haven't.

    Each draft has its own q, a one-hot or the model's law, so every exact rule stays exact. The model reads
    what it didn't see when it is asked next.
    """

    def __init__(self, lookup: PromptLookup, model: ModelDrafter):
        self.name = model.name
        self.lookup = lookup
        self.model = model

    def prefill(self, prompt_ids: Sequence[int]) -> None:
        self.lookup.prefill(prompt_ids)
        self.model.prefill(prompt_ids)

    def room(self, committed: int) -> int:
        return self.lookup.room(committed)

    def propose(self, committed: Sequence[int], uniforms: Sequence[float], policy: LengthPolicy) -> Proposal:
        copies = self.lookup.propose(committed, uniforms, policy)
        room = self.model.room(len(committed))
        if len(copies) or not room:
            return copies
        drafts = self.model.propose(committed, uniforms[:room], policy)
        return drafts if drafts.stopped or room >= len(uniforms) else replace(drafts, stopped="room")

    def rewind(self, length: int) -> None:
        self.lookup.rewind(length)
        self.model.rewind(length)
