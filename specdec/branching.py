"""Branches: a run that goes on from the middle of another with one thing changed.

Its streams of random numbers stand where the other's stood, so only the change makes a difference: a branch in
which nothing was changed repeats its parent token for token, up to the rounding of a prompt that is read in another
grouping.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from specdec.decoding.lengths import LengthPolicy, policy_of
from specdec.decoding.loop import Start
from specdec.decoding.probabilities import RandomStreams
from specdec.models.pairs import Pair
from specdec.recording import Recorder, recorded, run
from specdec.settings import BadInput, Settings, shown
from specdec.trace.growing import Step
from specdec.trace.record import Resumed, Round
from specdec.trace.session import Change
from specdec.trace.trace import Trace


def branch(
    pair: Pair, parent: Trace, at: int, change: Change = Change(), settings: Settings | None = None
) -> Iterator[Trace | Step]:
    """Go on from position `at` of `parent` (an index into its positions) with `change`, as `recording.steps` does.

    The branch's own trace begins with the round of the changed place, or behind a forced token; what was written
    before stands at the end of its prompt. pair: the parent's, or any with the same tokens. settings: from there on;
    the parent's unless given. Its max_new_tokens count the branch's own tokens. Raises `BadInput` for a place or a
    value that can't be used.
    """
    round_index, place = _place_of(parent, at)
    _check_change(parent, at, change)
    _refuse_other_tokens(pair, parent)
    rounds = parent.rounds[: round_index + (change.kind == "forced")]
    kept = [p.token_id for r in parent.rounds[:round_index] for p in r.positions if p.kind != "discarded"]
    if change.kind == "forced":
        inside = parent.rounds[round_index].positions[:place]
        kept += [p.token_id for p in inside if p.kind != "discarded"] + [int(change.value)]
    chosen = settings or _rest(parent, len(kept))
    resumed = _resumed(parent, len(rounds), len(kept))
    prompt_ids = [*parent.prompt.ids, *kept]
    if len(prompt_ids) >= pair.target.max_length:
        raise BadInput("The text has {count:,} tokens already, as many as the target can hold.", count=len(prompt_ids))
    start = Start(_streams(chosen.seed, resumed, change, place), _policy(chosen, parent, rounds))
    recorder = Recorder(pair, parent.prompt.text, prompt_ids, chosen, resumed)
    return recorded(recorder, run(pair, prompt_ids, chosen, start=start, written=resumed.written))


def resume(pair: Pair, ended: Trace) -> Iterator[Step]:
    """The rounds that would have followed those of `ended`, a run that somebody ended before its time.

    They join it as its own: to a `GrowingTrace` of its rounds. Raises `BadInput` for a run that came to its own end.
    """
    if ended.output.stop_reason != "cancelled" or not ended.rounds:
        raise BadInput("The run came to its own end, so there is nothing to go on with.")
    _refuse_other_tokens(pair, ended)
    written, rounds, last = len(ended.output.ids), len(ended.rounds), ended.rounds[-1]
    chosen = _rest(ended, written)
    resumed = _resumed(ended, rounds, written)
    prompt_ids = [*ended.prompt.ids, *ended.output.ids]
    start = Start(_streams(chosen.seed, resumed, Change(), 0), _policy(chosen, ended, ended.rounds))
    recorder = Recorder(pair, ended.prompt.text, prompt_ids, chosen, resumed)
    steps = recorded(recorder, run(pair, prompt_ids, chosen, start=start, written=resumed.written))
    return (_behind(step, written, last.started + last.seconds) for step in steps if isinstance(step, Step))


def _behind(step: Step, written: int, seconds: float) -> Step:
    """A step of a run that follows `written` tokens and `seconds` of decoding."""
    positions = tuple(replace(p, output_index=p.output_index + written) for p in step.round.positions)
    return replace(step, round=replace(step.round, started=step.round.started + seconds, positions=positions))


def _refuse_other_tokens(pair: Pair, parent: Trace) -> None:
    """The ids of a text mean the same only to models with the same tokenizer."""
    known = max(*parent.prompt.ids, *parent.output.ids, 0) < pair.target.vocab_size
    if not known or tuple(pair.texts.sequence(parent.prompt.ids)) != parent.prompt.tokens:
        raise BadInput(
            "The run was made with {parent}, whose tokens {target} does not share.",
            parent=parent.pair.target, target=pair.info.target,
        )


def _place_of(parent: Trace, at: int) -> tuple[int, int]:
    """The round of a position and its place in it."""
    first = 0
    for index, round_ in enumerate(parent.rounds):
        if 0 <= at - first < len(round_.positions):
            return index, at - first
        first += len(round_.positions)
    raise BadInput(
        "The run has {first} positions, so there is no position {at} to go on from.", first=first, at=shown(at)
    )


def _check_change(parent: Trace, at: int, change: Change) -> None:
    position, value = parent.positions[at], change.value
    if change.kind == "forced":
        if not isinstance(value, int) or not 0 <= value < parent.pair.vocab_size:
            raise BadInput(
                "The forced token must be an id below {size:,}, not {value}.",
                size=parent.pair.vocab_size, value=shown(value),
            )
        if position.kind == "discarded":
            raise BadInput("A discarded draft is no place of the text, so no token can be forced there.")
    elif change.kind != "replay":
        if not isinstance(value, float) or not 0 < value < 1:
            raise BadInput(
                "{kind} must be a number between 0 and 1, not {value}.", kind=change.kind, value=shown(value)
            )
        if change.kind == "coin" and position.coin is None:
            raise BadInput("No coin was thrown at this position, so there is none to change.")
        if change.kind == "draft" and position.draft_uniform is None:
            raise BadInput("No draft was drawn at this position, so there is no draw to change.")


def _rest(parent: Trace, written: int) -> Settings:
    """The parent's settings, with as many new tokens as it had left."""
    left = parent.settings.max_new_tokens - written
    if left < 1:
        raise BadInput(
            "The run was to have {count} tokens, and they are all there.", count=parent.settings.max_new_tokens
        )
    return parent.settings.changed(max_new_tokens=left)


def _resumed(parent: Trace, rounds: int, kept: int) -> Resumed:
    before = parent.resumed or Resumed(0, 0, 0, 0)
    drawn = rounds * parent.settings.gamma
    return Resumed(before.written + kept, before.drafts + drawn, before.coins + drawn, before.resampling + rounds)


def _streams(seed: int, resumed: Resumed, change: Change, place: int) -> RandomStreams:
    """The seed's streams where the parent's stood, with the changed number in its place."""
    streams = RandomStreams(seed)
    streams.drafts.take(resumed.drafts)
    streams.coins.take(resumed.coins)
    streams.resampling.take(resumed.resampling)
    if change.kind in ("coin", "draft", "token"):
        stream = {"coin": streams.coins, "draft": streams.drafts, "token": streams.resampling}[change.kind]
        stream.put(0 if change.kind == "token" else place, float(change.value))
    return streams


def _policy(settings: Settings, parent: Trace, rounds: tuple[Round, ...]) -> LengthPolicy:
    """The policy of `settings` with what the parent's rounds taught it, if it is the parent's own."""
    policy = policy_of(settings)
    if settings.changed(max_new_tokens=1) != parent.settings.changed(max_new_tokens=1):
        return policy
    for round_ in rounds:
        policy = policy.after(round_.drafted, round_.tested, round_.accepted)
    return policy
