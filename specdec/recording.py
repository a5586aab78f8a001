"""From rounds of tensors to a `Trace`: the recorder, and the calls that most users need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from specdec.decoding import loop
from specdec.decoding.drafting import Drafter, LookupThenModel, ModelDrafter, PromptLookup, Proposal
from specdec.decoding.probabilities import entropy, overlap, residual_mass
from specdec.decoding.stopping import Stopping, end_of_stop_string
from specdec.models.pairs import Pair
from specdec.settings import BadInput, Settings
from specdec.trace import record
from specdec.trace.ending import begun_stop
from specdec.trace.growing import GrowingTrace, Step
from specdec.trace.tokens import TextStream, TokenTexts
from specdec.trace.trace import SCHEMA, Trace

# Prompt lookup before the model: a longer match is a surer one; what counts is that it isn't too short.
LONGEST_MATCH = 4


def decode(pair: Pair, prompt: str, settings: Settings | None = None, **values: Any) -> Trace:
    """Decode `prompt` and return the whole record. `values` are fields of `Settings`.

    Raises `BadInput`, one sentence, for a prompt or setting that can't be used.
    """
    for growing in _growing(steps(pair, prompt, settings, **values)):
        pass
    return growing.trace()


def stream(pair: Pair, prompt: str, settings: Settings | None = None, **values: Any) -> Iterator[Trace]:
    """The same, as a trace that grows by a round. Until the last, its stop_reason is 'cancelled':
    closing the generator cancels the run, and the last trace seen is the record of what was run.
    """
    with closing(steps(pair, prompt, settings, **values)) as parts:
        for growing in _growing(parts):
            yield growing.trace()


def steps(pair: Pair, prompt: str, settings: Settings | None = None, **values: Any) -> Iterator[Trace | Step]:
    """The same in its smallest parts, each plain data: the trace without a round, then every round once.

    A `GrowingTrace` joins them. Unlike `stream`, a round costs the same however long the run is.
    """
    recorder, rounds = _begin(pair, prompt, settings, values)
    yield from recorded(recorder, rounds)


def recorded(recorder: Recorder, rounds: Iterator[loop.Round]) -> Iterator[Trace | Step]:
    """The trace without a round, then every round once."""
    for number, round_ in enumerate(rounds):
        if number == 0:
            yield recorder.start(round_)
        yield recorder.step(round_)


def _growing(parts: Iterator[Trace | Step]) -> Iterator[GrowingTrace]:
    """The record after every round."""
    growing = GrowingTrace(next(parts))
    for step in parts:
        growing.add(step)
        yield growing


def run(
    pair: Pair, prompt_ids: list[int], settings: Settings, *, start: loop.Start | None = None, written: int = 0
) -> Iterator[loop.Round]:
    """The rounds of `settings` on `pair`, with no record kept; gamma 0 is plain decoding.

    start, written: of a run that goes on from another's middle, see `specdec.branching`.
    """
    stopping = stopping_of(pair, prompt_ids, settings, written)
    if settings.gamma == 0:
        return loop.autoregressive(pair.target, prompt_ids, settings, stopping, start)
    return loop.speculative(pair.target, drafter_of(pair, settings), prompt_ids, settings, stopping, start)


def _begin(
    pair: Pair, prompt: str, settings: Settings | None, values: dict[str, Any]
) -> tuple[Recorder, Iterator[loop.Round]]:
    settings = (settings or Settings()).changed(**values)
    prompt_ids = pair.encode(prompt, chat=settings.chat)
    return Recorder(pair, prompt, prompt_ids, settings), run(pair, prompt_ids, settings)


def drafter_of(pair: Pair, settings: Settings) -> Drafter:
    if settings.drafter == "prompt_lookup":
        return PromptLookup(pair.target.vocab_size, pair.target.device)
    if pair.draft is None:
        raise BadInput("{name} has no draft model; choose the drafter prompt_lookup.", name=pair.info.name)
    model = ModelDrafter(pair.draft, settings.draft_sampling, settings.reported_sampling)
    if settings.drafter == "model":
        return model
    longest = max(LONGEST_MATCH, settings.lookup_match)
    lookup = PromptLookup(pair.target.vocab_size, pair.target.device, longest=longest, shortest=settings.lookup_match)
    return LookupThenModel(lookup, model)


def stopping_of(pair: Pair, prompt_ids: Sequence[int], settings: Settings, written: int = 0) -> Stopping:
    """What ends a run. written: so many of the prompt's last ids are text that a stop string may have begun in."""
    room = pair.target.max_length - len(prompt_ids)
    return Stopping(
        eos_ids=pair.eos_ids,
        budget=min(settings.max_new_tokens, room),
        budget_reason="length" if settings.max_new_tokens <= room else "context_full",
        stop_strings=settings.stop_strings,
        spelling=pair.texts.spelling,
        before=tuple(prompt_ids[len(prompt_ids) - written :]),
    )


class Recorder:
    """Turns rounds into parts of a trace. Costs one look at the top of each distribution a round."""

    def __init__(
        self, pair: Pair, prompt: str, prompt_ids: list[int], settings: Settings, resumed: record.Resumed | None = None
    ):
        self._created = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._pair = pair
        self._settings = settings
        self._prompt = record.Prompt(prompt, tuple(prompt_ids), tuple(pair.texts.sequence(prompt_ids)))
        self._resumed = resumed
        self._stream = TextStream(pair.texts)
        written = prompt_ids[len(prompt_ids) - resumed.written :] if resumed else []
        before = "".join(self._stream.push(token_id).text for token_id in written)
        self._text = begun_stop(before, settings.stop_strings)
        self._decoding_began = 0.0
        self._began = perf_counter()  # last: how the prompt is shown is no part of feeding it

    def start(self, first: loop.Round) -> Trace:
        """The trace without a round. first: the run's first round, before which the prompt was fed."""
        self._decoding_began = first.started
        drafted_by_model = self._settings.with_draft_model
        pair, info = self._pair, self._pair.info
        return Trace(
            schema=SCHEMA,
            created=self._created,
            pair=info if drafted_by_model else replace(info, draft=None),
            device=str(pair.target.device),
            dtype=pair.dtype,
            settings=self._settings,
            seed=self._settings.seed,
            prompt=self._prompt,
            rounds=(),
            output=record.Output((), "", "cancelled"),
            metrics=record.metrics_of((), first.started - self._began),
            limits=record.Limits(
                eos_ids=tuple(sorted(pair.eos_ids)),
                target_length=pair.target.max_length,
                draft_length=pair.draft.max_length if drafted_by_model else None,
            ),
            resumed=self._resumed,
        )

    def step(self, round_: loop.Round) -> Step:
        """The record of a round; each in its turn, after `start`."""
        recorded = record.Round(
            drafted=len(round_.proposal),
            tested=round_.tested,
            accepted=round_.accepted,
            emitted=len(round_.emitted),
            limit=round_.limit,
            stopped=round_.stopped,
            doubt=_doubt(round_),
            sharing=getattr(self._pair.target, "sharing", None),
            started=round_.started - self._decoding_began,
            draft_seconds=round_.drafted_at - round_.started,
            verify_seconds=round_.verified_at - round_.drafted_at,
            seconds=round_.finished - round_.started,
            positions=tuple(self._positions(round_)),
        )
        return Step(recorded, round_.stop_reason or "cancelled")

    def _positions(self, round_: loop.Round) -> Iterator[record.Position]:
        measures = _Measures(round_)
        drafts = round_.proposal.ids.tolist()
        copied = round_.proposal.copied
        rows = max(len(drafts), len(round_.emitted))
        thrown = len(drafts) if round_.verdict.whole_block else round_.tested
        for row in range(rows):
            kind = _kind(round_, row)
            drafted = row < len(drafts)
            token_id = round_.emitted[row] if kind != "discarded" else drafts[row]
            token = self._emit(token_id, round_.stop_reason) if kind != "discarded" else self._pair.texts.alone(token_id)
            draft_id = drafts[row] if drafted else None
            candidates, other = measures.candidates(row, kind, {token_id, draft_id} - {None}, self._pair.texts)
            yield record.Position(
                output_index=round_.first_index + row,
                kind=kind,
                draft_id=draft_id,
                drafted_by=_drafted_by(round_.proposal, row),
                draft_uniform=round_.proposal.uniforms[row - copied] if copied <= row < len(drafts) else None,
                token_id=token_id,
                text=token.text,
                token_uniform=round_.next_uniform if kind in ("replaced", "bonus", "plain") else None,
                p=measures.draft_p[row] if drafted else None,
                q=measures.draft_q[row] if drafted else None,
                accept_probability=measures.accept[row] if drafted else None,
                coin=round_.coins[row] if row < thrown else None,
                overlap=measures.overlap[row] if drafted else None,
                residual_mass=measures.residual[row] if drafted else None,
                target_entropy=measures.target_entropy[row],
                draft_entropy=measures.draft_entropy[row] if drafted else None,
                candidates=candidates,
                other=other,
                special=token.special,
                bytes=token.bytes,
            )

    def _emit(self, token_id: int, stop_reason: record.StopReason | None) -> record.TokenText:
        """The next token of the output; the one that completes a stop string keeps nothing behind it."""
        token = self._stream.push(token_id)
        if stop_reason == "stop_string":
            end = end_of_stop_string(self._text + token.text, self._settings.stop_strings)
            if end is not None:
                token = replace(token, text=token.text[: end - len(self._text)])
        self._text += token.text
        return token


def _kind(round_: loop.Round, row: int) -> record.Kind:
    drafted = len(round_.proposal)
    if row < round_.accepted:
        return "accepted"
    if row >= len(round_.emitted):
        return "discarded"
    if row < drafted:
        return "replaced"
    return "bonus" if drafted else "plain"


def _doubt(round_: loop.Round) -> float | None:
    """None too where an end of text was drafted before the policy doubted."""
    doubt = round_.proposal.doubt
    return doubt.value if doubt and round_.stopped == doubt.reason else None


def _drafted_by(proposal: Proposal, row: int) -> record.DraftedBy | None:
    if row < proposal.copied:
        return "copy"
    return "model" if row < len(proposal) else None


class _Measures:
    """What the record needs of a round's tensors, read to the host in a few calls."""

    def __init__(self, round_: loop.Round):
        drafted = len(round_.proposal)
        self.p, self.q = round_.target_probs, round_.proposal.probs
        top = min(record.CANDIDATES_OF_EACH, self.p.shape[-1])
        self.top_p, self.top_q = self.p.topk(top).indices.tolist(), self.q.topk(top).indices.tolist()
        self.p_total = self.p.sum(-1, dtype=torch.float64).tolist()
        self.q_total = self.q.sum(-1, dtype=torch.float64).tolist()
        ids = round_.proposal.ids.unsqueeze(-1)
        self.draft_p = _exact(self.p[:drafted].gather(-1, ids))
        self.draft_q = _exact(self.q.gather(-1, ids))
        self.accept = _exact(round_.verdict.accept_probabilities)
        self.overlap = [_digits(value) for value in overlap(self.p[:drafted], self.q).tolist()]
        self.residual = [_digits(value) for value in residual_mass(self.p[:drafted], self.q).tolist()]
        self.target_entropy = [_digits(value) for value in entropy(self.p).tolist()]
        self.draft_entropy = [_digits(value) for value in entropy(self.q).tolist()]

    def candidates(
        self, row: int, kind: record.Kind, always: set[int], texts: TokenTexts
    ) -> tuple[tuple[record.Candidate, ...], record.Other]:
        """The commonest ids of both laws (and `always`), by max(p, q) falling, and the sums over the rest."""
        drafted = row < len(self.q)
        count = record.CANDIDATES_OF_EACH_DISCARDED if kind == "discarded" else record.CANDIDATES_OF_EACH
        ids = set(self.top_p[row][:count]) | set(self.top_q[row][:count] if drafted else ()) | always
        index = torch.tensor(sorted(ids), device=self.p.device)
        p = self.p[row][index].tolist()
        q = self.q[row][index].tolist() if drafted else [None] * len(p)
        rows = sorted(zip(index.tolist(), p, q), key=lambda row: (-max(row[1], row[2] or 0), row[0]))
        rows = [(i, a, b) for i, a, b in rows if a or b or i in always]
        other = record.Other(
            p=_rest(self.p_total[row], [a for _, a, _ in rows]),
            q=_rest(self.q_total[row], [b for _, _, b in rows]) if drafted else None,
            overlap=_rest(self.overlap[row], [min(a, b) for _, a, b in rows]) if drafted else None,
            residual=_rest(self.residual[row], [max(0.0, a - b) for _, a, b in rows]) if drafted else None,
        )
        return tuple(_candidate(texts.alone(i), a, b) for i, a, b in rows), other


def _candidate(token: record.TokenText, p: float, q: float | None) -> record.Candidate:
    return record.Candidate(
        id=token.id,
        text=token.text,
        p=_digits(p),
        q=None if q is None else _digits(q),
        special=token.special,
        bytes=token.bytes,
    )


def _rest(total: float, parts: list[float]) -> float:
    """What is left of `total`; a negative speck of rounding is zero."""
    return _digits(max(0.0, total - sum(parts)))


def _exact(values: Tensor) -> list[float]:
    """Float32 values, each as the shortest decimal that reads back as it."""
    return [float(str(value)) for value in values.float().flatten().cpu().numpy()]


def _digits(value: float) -> float:
    """Six significant digits, and none beyond the eighth decimal: 1e-5 is what the sums are good for."""
    return round(float(f"{value:.6g}"), 8)
