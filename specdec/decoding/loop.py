"""The two loops: plain decoding and speculative decoding.

Both are generators of `Round`s. Whoever wants a record, a screen or a stopwatch consumes them; the loop
knows none of it. Closing the generator cancels the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from specdec.decoding.drafting import Drafter, Proposal
from specdec.decoding.lengths import LengthPolicy, policy_of
from specdec.decoding.probabilities import RandomStreams, draw, lawless, probabilities
from specdec.decoding.rules import Verdict, rule_of
from specdec.decoding.stopping import Stopping
from specdec.models.devices import synchronise
from specdec.models.interface import LanguageModel
from specdec.settings import BadInput, Settings
from specdec.trace.record import DraftingStop, StopReason


@dataclass(frozen=True)
class Round:
    """One round, tensors still on the device.

    first_index: output index of its first token. proposal, coins: the n drafts up to an end of text.
    target_probs, verdict: of all that was drafted, so at least n + 1 rows.
    next_uniform: what drew the token after the kept drafts. emitted: the ids that joined the output.
    accepted: drafts among them; tested: accepted plus the rejected one, if any was.
    limit: the most drafts that the policy allowed; stopped: why there were no more.
    started, drafted_at, verified_at, finished: `perf_counter` seconds.
    """

    first_index: int
    proposal: Proposal
    target_probs: Tensor
    verdict: Verdict
    coins: tuple[float, ...]
    next_uniform: float
    emitted: tuple[int, ...]
    accepted: int
    tested: int
    limit: int
    stopped: DraftingStop
    stop_reason: StopReason | None
    started: float
    drafted_at: float
    verified_at: float
    finished: float


@dataclass(frozen=True)
class Start:
    """What a run has from the one that it goes on from: its streams where they stood, and what its policy learned."""

    streams: RandomStreams
    policy: LengthPolicy


def speculative(
    target: LanguageModel,
    drafter: Drafter,
    prompt_ids: Sequence[int],
    settings: Settings,
    stopping: Stopping,
    start: Start | None = None,
) -> Iterator[Round]:
    """Speculative decoding of `prompt_ids` (at least one id) until `stopping` ends it.

    Leviathan et al. 2023, algorithm 1, with the rule of `settings`. After every round the target's
    cache holds all committed tokens but the last, the draft's no more than that.
    The host reads the device once a round, besides what top-k, top-p and a policy that looks at each draft
    look up; every time stamp follows such a read or a synchronisation.
    A round takes gamma numbers for drafts and for coins, used or not, and one for the token behind the kept drafts,
    so what a stream gives a round follows from the number of rounds before it.
    start: None, or where another run left off.
    """
    streams = start.streams if start else RandomStreams(settings.seed)
    rule, policy = rule_of(settings), start.policy if start else policy_of(settings)
    ending = stopping.begin()
    committed = list(prompt_ids)
    claim = _prefill(target, committed)
    drafter.prefill(committed[:-1])

    while True:
        started = perf_counter()
        written = len(committed) - len(prompt_ids)

        # 1. Draft: at most what the policy allows, leaving one of the budget for the target's own.
        bounds = {"limit": policy.limit, "budget": stopping.budget - written - 1, "room": drafter.room(len(committed))}
        bound = min(bounds, key=bounds.__getitem__)
        uniforms = streams.drafts.take(settings.gamma)
        if bounds[bound] > 0:
            proposal = drafter.propose(committed, uniforms[: bounds[bound]], policy)
        else:
            proposal = Proposal.nothing(target.vocab_size, target.device)
        synchronise(target.device)
        drafted_at = perf_counter()

        # 2. Score all drafts in ONE target pass.
        last = torch.tensor(committed[-1:], device=target.device)
        logits = target.extend(torch.cat([last, proposal.ids]))
        target_probs = probabilities(logits, settings.target_sampling)

        # 3. Verify, then draw the token that follows the kept drafts.
        coins = streams.coins.take(settings.gamma)[: len(proposal)]
        thrown = torch.tensor(coins, dtype=torch.float64, device=target.device)
        verdict = rule(target_probs, proposal.reported, proposal.ids, thrown)
        next_uniform = streams.resampling.one()
        next_id = draw(verdict.next_probs, next_uniform)
        drafts, [accepted], [next_id], no_q, no_p = _read(
            proposal.ids, verdict.accepted, next_id, lawless(proposal.probs), lawless(target_probs)
        )
        _refuse_lawless(drafter, no_q, written)
        _refuse_lawless(target, no_p, written)
        verified_at = perf_counter()

        # 4. Commit, and forget the rest. What was drafted behind an end of text counts nowhere.
        drafts = stopping.until_eos(drafts[:accepted] if verdict.withdrawn else drafts)
        emitted, stop_reason = ending.cut([*drafts[:accepted], next_id])
        committed += emitted
        target.rewind(len(committed) - 1)
        drafter.rewind(len(committed) - 1)

        rejected = accepted < min(len(drafts), len(emitted))
        accepted = min(accepted, len(drafts), len(emitted))
        yield Round(
            first_index=written,
            proposal=proposal.first(len(drafts)),
            target_probs=target_probs,
            verdict=verdict,
            coins=tuple(coins[: len(drafts)]),
            next_uniform=next_uniform,
            emitted=tuple(emitted),
            accepted=accepted,
            tested=accepted + rejected,
            limit=policy.limit,
            stopped=_why_stopped(drafts, proposal, stopping) or bound,
            stop_reason=stop_reason,
            started=started,
            drafted_at=drafted_at,
            verified_at=verified_at,
            finished=perf_counter(),
        )
        if stop_reason:
            return
        policy = policy.after(len(drafts), accepted + rejected, accepted)
        _refuse_if_shared(target, claim)


def autoregressive(
    target: LanguageModel,
    prompt_ids: Sequence[int],
    settings: Settings,
    stopping: Stopping,
    start: Start | None = None,
) -> Iterator[Round]:
    """Plain decoding: one target pass a token. The baseline, and what speculative decoding must equal in law."""
    resampling = (start.streams if start else RandomStreams(settings.seed)).resampling
    nothing = Proposal.nothing(target.vocab_size, target.device)
    ending = stopping.begin()
    committed = list(prompt_ids)
    claim = _prefill(target, committed)

    while True:
        started = perf_counter()
        written = len(committed) - len(prompt_ids)
        logits = target.extend(torch.tensor([committed[-1]], device=target.device))
        target_probs = probabilities(logits, settings.target_sampling)
        uniform = resampling.one()
        [next_id], no_p = _read(draw(target_probs[0], uniform), lawless(target_probs))
        _refuse_lawless(target, no_p, written)
        verified_at = perf_counter()

        emitted, stop_reason = ending.cut([next_id])
        committed += emitted
        yield Round(
            first_index=written,
            proposal=nothing,
            target_probs=target_probs,
            verdict=Verdict(torch.tensor(0), torch.empty(0), target_probs[0]),
            coins=(),
            next_uniform=uniform,
            emitted=tuple(emitted),
            accepted=0,
            tested=0,
            limit=0,
            stopped="limit",
            stop_reason=stop_reason,
            started=started,
            drafted_at=started,
            verified_at=verified_at,
            finished=perf_counter(),
        )
        if stop_reason:
            return
        _refuse_if_shared(target, claim)


def _read(*parts: Tensor) -> list[list[int]]:
    """Each part as a list, with one read of the device for all."""
    flat = iter(torch.cat([part.reshape(-1).long() for part in parts]).tolist())
    return [list(islice(flat, part.numel())) for part in parts]


def _why_stopped(drafts: Sequence[int], proposal: Proposal, stopping: Stopping) -> DraftingStop | None:
    """Why no more than `drafts` of the proposal were made; None: nobody chose so."""
    if drafts and drafts[-1] in stopping.eos_ids:
        return "eos"
    return "peek" if len(drafts) < len(proposal) else proposal.stopped


def _refuse_lawless(model: LanguageModel | Drafter, broken: Sequence[int], written: int) -> None:
    """broken: for each place behind the `written` tokens, whether the model's logits there have no law."""
    if any(broken):
        place = written + broken.index(1) + 1
        raise BadInput(
            "{name} gave logits without a law (NaN or infinite) for token {place} of the output.",
            name=model.name, place=place,
        )


# Which run each model reads for: the one that began last.
_CLAIMS: WeakKeyDictionary[LanguageModel, object] = WeakKeyDictionary()


def _prefill(target: LanguageModel, committed: Sequence[int]) -> object:
    """Start from an empty cache, whatever an earlier run left behind, and feed all but the last id.

    Returns the run's claim on the model.
    """
    _CLAIMS[target] = claim = object()
    target.rewind(0)
    if len(committed) > 1:
        target.prefill(torch.tensor(committed[:-1], device=target.device))
    return claim


def _refuse_if_shared(target: LanguageModel, claim: object) -> None:
    """Two runs at once on one model would read each other's cache; better an error than a wrong text."""
    if _CLAIMS[target] is not claim:
        raise RuntimeError("Another run has begun on this model, so this one can't go on.")
