"""What acceptance depends on: every draft of real runs with its place, its laws' figures and its kind of token."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, get_args

import torch
from pydantic.dataclasses import dataclass
from torch import Tensor

from specdec import recording
from specdec.decoding import loop
from specdec.decoding.probabilities import entropy, overlap
from specdec.models.pairs import Pair
from specdec.settings import BadInput, Settings
from specdec.trace.strict_json import STRICT, compact_json, to_dict
from specdec.trace.trace import Trace

CONFIDENCE = 0.95
ENTROPY_EDGES = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0)  # nats
SHOWN_CHARACTERS = 60

TokenKind = Literal["new_word", "inside_word", "number", "punctuation", "code", "line_break", "special"]
_CODE = frozenset("{}[]()<>=_+*/\\|&^%$#@~`")


@dataclass(frozen=True, config=STRICT)
class DraftFact:
    """One draft that met the rule. prompt: which of the measurement's. place: 1 for the first of its round.

    overlap: beta, the sum of min(p_big, p_small). entropies and divergence = KL(p_small || p_big) in nats; the
    latter None where p_small gives what p_big never does.
    """

    prompt: int
    place: int
    accepted: bool
    overlap: float
    draft_entropy: float
    target_entropy: float
    divergence: float | None
    kind: TokenKind


@dataclass(frozen=True, config=STRICT)
class PromptKind:
    """A prompt: its kind, as whoever measured calls it, and its beginning."""

    kind: str
    text: str


@dataclass(frozen=True, config=STRICT)
class Dependence:
    """Drafts of real runs, one run a prompt; it grows while it is measured. done, total: prompts."""

    pair: str
    device: str
    dtype: str
    settings: Settings
    prompts: tuple[PromptKind, ...]
    facts: tuple[DraftFact, ...]
    done: int
    total: int

    def to_json(self) -> str:
        return compact_json(to_dict(self))


@dataclass(frozen=True, config=STRICT)
class Share:
    """accepted of tested drafts with the 95 % interval of the rate (Clopper and Pearson 1934)."""

    label: str
    accepted: int
    tested: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """accepted / tested"""
        return self.accepted / self.tested


def measure_dependence(
    pair: Pair, prompts: Sequence[str], settings: Settings | None = None, *, kinds: Sequence[str] | None = None
) -> Iterator[Dependence]:
    """The record after each prompt; close the generator to stop. kinds: what each prompt is called; else its number."""
    settings = settings or Settings()
    if not prompts:
        raise BadInput("There is no prompt to measure.")
    names = kinds or [str(number + 1) for number in range(len(prompts))]
    notes = tuple(PromptKind(kind, text[:SHOWN_CHARACTERS]) for kind, text in zip(names, prompts, strict=True))
    facts: list[DraftFact] = []
    for index, prompt in enumerate(prompts):
        ids = pair.encode(prompt, chat=settings.chat)
        last_id = ids[-1]
        for round_ in recording.run(pair, ids, settings):
            facts += _facts_of(round_, index, pair, last_id)
            last_id = round_.emitted[-1]
        yield Dependence(
            pair=pair.info.name,
            device=str(pair.target.device),
            dtype=pair.dtype,
            settings=settings,
            prompts=notes,
            facts=tuple(facts),
            done=index + 1,
            total=len(prompts),
        )


def by_place(facts: Iterable[DraftFact]) -> tuple[Share, ...]:
    """Of the first, second, ... draft of a round, given that it was reached."""
    return _shares(facts, lambda fact: fact.place, str)


def by_token_kind(facts: Iterable[DraftFact]) -> tuple[Share, ...]:
    """By kind of token, in the order of `TokenKind`; kinds that never came are left out."""
    kinds = get_args(TokenKind)
    return _shares(facts, lambda fact: kinds.index(fact.kind), kinds.__getitem__)


def by_prompt(facts: Iterable[DraftFact], prompts: Sequence[PromptKind]) -> tuple[Share, ...]:
    """By kind of prompt, in the order in which the kinds first come."""
    kinds = list(dict.fromkeys(prompt.kind for prompt in prompts))
    return _shares(facts, lambda fact: kinds.index(prompts[fact.prompt].kind), kinds.__getitem__)


def by_target_entropy(facts: Iterable[DraftFact]) -> tuple[Share, ...]:
    """By the target's entropy, in bins from each of `ENTROPY_EDGES` to the next."""
    def bin_of(fact: DraftFact) -> int:
        return sum(fact.target_entropy >= edge for edge in ENTROPY_EDGES[1:])

    ends = [f"{low:g}–{high:g}" for low, high in zip(ENTROPY_EDGES, ENTROPY_EDGES[1:])] + [f"> {ENTROPY_EDGES[-1]:g}"]
    return _shares(facts, bin_of, ends.__getitem__)


def worst_places(trace: Trace, count: int = 20) -> list[int]:
    """Indices into `trace.positions` of the tested drafts with the smallest overlap, the smallest first."""
    tested = [
        (position.overlap, index)
        for index, position in enumerate(trace.positions)
        if position.overlap is not None and position.kind != "discarded"
    ]
    return [index for _, index in sorted(tested)[:count]]


def token_kind(text: str, before: str, special: bool = False) -> TokenKind:
    """What a token's text is, by its first sign that is no space. before: the text of the token before it.

    A word that goes on where a letter or digit stands before it is inside a word, any other is new.
    """
    bare = text.strip()
    if special:
        return "special"
    if not bare:
        return "line_break" if "\n" in text else "punctuation"
    if bare[0].isdigit():
        return "number"
    if bare[0].isalpha():
        return "inside_word" if text[0].isalpha() and before[-1:].isalnum() else "new_word"
    return "code" if _CODE & set(bare) else "punctuation"


def _facts_of(round_: loop.Round, prompt: int, pair: Pair, last_id: int) -> Iterator[DraftFact]:
    """last_id: of the token before the round."""
    tested = round_.tested
    p, q = round_.target_probs[:tested], round_.proposal.probs[:tested]
    columns = [overlap(p, q), entropy(q), entropy(p), divergence(p, q)]
    before = pair.texts.alone(last_id).text
    rows = zip(round_.proposal.ids[:tested].tolist(), *(column.tolist() for column in columns))
    for place, (id_, beta, draft, target, apart) in enumerate(rows, 1):
        token = pair.texts.alone(id_)
        yield DraftFact(
            prompt=prompt,
            place=place,
            accepted=place <= round_.accepted,
            overlap=_short(beta),
            draft_entropy=_short(draft),
            target_entropy=_short(target),
            divergence=_short(apart) if apart < float("inf") else None,
            kind=token_kind(token.text, before, token.special),
        )
        before = token.text


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """KL(q || p) = sum of q log(q / p) over the last axis, in nats; infinite where q gives what p never does."""
    terms = torch.where(q > 0, q * (q.double() / p).log(), 0.0)
    return terms.sum(-1).clamp_min(0)


def _shares(facts: Iterable[DraftFact], key: Callable[[DraftFact], int], label: Callable[[int], str]) -> tuple[Share, ...]:
    counts: dict[int, list[int]] = {}
    for fact in facts:
        count = counts.setdefault(key(fact), [0, 0])
        count[0] += fact.accepted
        count[1] += 1
    return tuple(share_of(label(index), *counts[index]) for index in sorted(counts))


def share_of(label: str, accepted: int, tested: int) -> Share:
    """`accepted` of `tested` (at least 1) with its interval."""
    from scipy.stats import binomtest  # here, because it is slow to import: a page that opens needs none

    interval = binomtest(accepted, tested).proportion_ci(CONFIDENCE, method="exact")
    return Share(label, accepted, tested, float(interval.low), float(interval.high))


def _short(value: float) -> float:
    return float(f"{value:.5g}")
