"""Whether a rule changes the distribution: exact laws, and the chance that a draft is kept.

`one_position_law` and `sequence_law` enumerate every draft and every outcome of the coins and call the
very rule that the decoder calls. `closed_form` gives the same one-position laws as formulas, for
vocabularies too large to enumerate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import torch
from torch import Tensor

from specdec.decoding.lengths import Fixed, LengthPolicy
from specdec.decoding.probabilities import overlap, residual
from specdec.decoding.rules import Rule, Verdict, typical_threshold
from specdec.settings import Settings


def one_position_law(rule: Rule, target: Tensor, draft: Tensor, reported: Tensor | None = None) -> tuple[Tensor, float]:
    """The law [V] of the first token that `rule` emits with one draft, and the chance that it is the draft.

    target, draft: p and q, [V]. reported: the q that the rule is told; None is the truth.
    """
    law = torch.zeros_like(target, dtype=torch.float64)
    acceptance = 0.0
    both = torch.stack([target, target])
    claimed = (draft if reported is None else reported).unsqueeze(0)
    for token in draft.nonzero().flatten():
        for chance, verdict in _verdicts(rule, both, claimed, token.reshape(1)):
            mass = float(draft[token]) * chance
            if verdict.accepted:
                law[token] += mass
                acceptance += mass
            else:
                law += mass * verdict.next_probs
    return law, acceptance


def sequence_law(
    rule: Rule, target: Tensor, draft: Tensor, policy: LengthPolicy, length: int, start: int = 0
) -> dict[tuple[int, ...], float]:
    """The law of the first `length` tokens decoded with `rule`, for Markov tables target, draft [V, V].

    policy: how long drafts are, as it is before the first round; at most gamma tokens. Exact up to rounding;
    costs about (2 V)^gamma V^length. start: the last prompt token.
    """
    laws = {((), policy): 1.0}
    finished: dict[tuple[int, ...], float] = {}
    while laws:
        longer: dict[tuple[tuple[int, ...], LengthPolicy], float] = {}
        for (text, now), mass in laws.items():
            for (more, then), chance in _round_law(rule, target, draft, now, (start, *text)[-1]).items():
                whole = text + more
                if len(whole) >= length:
                    finished[whole[:length]] = finished.get(whole[:length], 0.0) + mass * chance
                else:
                    longer[whole, then] = longer.get((whole, then), 0.0) + mass * chance
        laws = longer
    return finished


def target_sequence_law(target: Tensor, length: int, start: int = 0) -> dict[tuple[int, ...], float]:
    """The law of the first `length` tokens of plain decoding, for a Markov table [V, V]."""
    laws = {(): 1.0}
    for _ in range(length):
        laws = {
            (*text, token): mass * float(chance)
            for text, mass in laws.items()
            for token, chance in enumerate(target[(start, *text)[-1]])
            if chance > 0
        }
    return laws


def expected_accepted(rule: Rule, target: Tensor, draft: Tensor, gamma: int, start: int = 0) -> float:
    """Mean number of drafts that `rule` keeps in one round, for Markov tables [V, V]."""
    return sum(
        weight * chance * int(verdict.accepted)
        for weight, drafts, target_rows, draft_rows in _paths(target, draft, Fixed(gamma), start)
        for chance, verdict in _verdicts(rule, target_rows, draft_rows, drafts)
    )


def closed_form(settings: Settings, target: Tensor, draft: Tensor, reported: Tensor | None = None) -> tuple[Tensor, float]:
    """`one_position_law` as a formula, for any V: kept mass plus what each rejection is replaced by."""
    p, q = target.double(), draft.double()
    told = q if reported is None else reported.double()
    if settings.rule == "match":
        return q * p + p * (1 - q), float((p * q).sum())

    def misreported() -> tuple[Tensor, Tensor]:
        return torch.minimum(q, torch.where(told > 0, q * p / told, q)), residual(p, told)

    kept, refill = {
        "token": lambda: (torch.minimum(p, q), residual(p, q)),
        "block": lambda: (torch.minimum(p, q), residual(p, q)),
        "no_residual": lambda: (torch.minimum(p, q), p),
        "peeking": lambda: (torch.minimum(p, q), p),
        "typical": lambda: (q * (p > typical_threshold(p, settings.typical_epsilon, settings.typical_delta)), p),
        "lenient": lambda: (torch.minimum(q, p / settings.lenience), residual(p, q)),
        "raw_draft": misreported,
        "argmax_draft": misreported,
        "ensemble": lambda: (
            torch.minimum(q, settings.target_weight * p + (1 - settings.target_weight) * q),
            residual(p, q),
        ),
    }[settings.rule]()
    return kept + (1 - kept.sum()) * refill, float(kept.sum())


def total_variation(one: Tensor, other: Tensor) -> float:
    """Half the sum of |difference|, in [0, 1]: the most that any event's probability is off by."""
    return 0.5 * float((one.double() - other.double()).abs().sum())


def best_possible_acceptance(target: Tensor, draft: Tensor) -> float:
    """Sum of min(p, q): no coupling of p and q agrees more often (the maximal coupling does exactly this).

    Whatever the rule, P(draft = emitted = x) can't exceed P(emitted = x) = p(x), nor P(draft = x) = q(x).
    """
    return float(overlap(target, draft))


def distance_of_texts(one: Mapping[tuple[int, ...], float], other: Mapping[tuple[int, ...], float]) -> float:
    """Total variation of two laws over texts."""
    return 0.5 * sum(abs(one.get(text, 0.0) - other.get(text, 0.0)) for text in {*one, *other})


def _round_law(
    rule: Rule, target: Tensor, draft: Tensor, policy: LengthPolicy, last: int
) -> dict[tuple[tuple[int, ...], LengthPolicy], float]:
    """What one round emits after `last`, and the policy that it leaves: their joint law."""
    law: dict[tuple[tuple[int, ...], LengthPolicy], float] = {}
    for weight, drafts, target_rows, draft_rows in _paths(target, draft, policy, last):
        for chance, verdict in _verdicts(rule, target_rows, draft_rows, drafts):
            accepted = int(verdict.accepted)
            drafted = accepted if verdict.withdrawn else len(drafts)
            then = policy.after(drafted, min(accepted + 1, drafted), accepted)
            kept = tuple(drafts[:accepted].tolist())
            for token in verdict.next_probs.nonzero().flatten().tolist():
                key = (*kept, token), then
                law[key] = law.get(key, 0.0) + weight * chance * float(verdict.next_probs[token])
    return law


def _paths(
    target: Tensor, draft: Tensor, policy: LengthPolicy, last: int
) -> Iterator[tuple[float, Tensor, Tensor, Tensor]]:
    """Every draft that the policy may let stand after `last`: its probability, its ids, and both models' rows."""
    for weight, ids in _drafts(draft, policy, policy.limit, last):
        context = torch.tensor([last, *ids])
        yield weight, context[1:], target[context], draft[context[:-1]]


def _drafts(draft: Tensor, policy: LengthPolicy, most: int, last: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    if not most:
        yield 1.0, ()
        return
    law = draft[last]
    for token in law.nonzero().flatten():
        if policy.doubt(law.log(), law, token.reshape(1)):
            yield float(law[token]), (int(token),)
            continue
        for weight, more in _drafts(draft, policy, most - 1, int(token)):
            yield float(law[token]) * weight, (int(token), *more)


def _verdicts(rule: Rule, target_rows: Tensor, draft_rows: Tensor, drafts: Tensor) -> Iterator[tuple[float, Verdict]]:
    """Every outcome of the coins with its chance, and what the rule decides on it.

    A coin below its accept probability passes, one above fails: half-way values stand for both.
    """
    halves = torch.full((len(drafts),), 0.5, dtype=torch.float64)
    chances = rule(target_rows, draft_rows, drafts, halves).accept_probabilities.double()
    for passes in product((True, False), repeat=len(drafts)):
        flags = torch.tensor(passes)
        weight = float(torch.where(flags, chances, 1 - chances).prod())
        if weight > 0:
            coins = torch.where(flags, chances / 2, (1 + chances) / 2)
            yield weight, rule(target_rows, draft_rows, drafts, coins)
