"""What a run's settings promise of its length: how many tokens, and why it ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from specdec.settings import BadInput, Settings
from specdec.trace.drafted import check_drafted
from specdec.trace.record import Limits, Output, Prompt, Resumed, Round, StopReason
from specdec.trace.rounds import letters

# The kinds of a round's positions by their first letters, and of one in which the text ended before its last draft.
_WHOLE = re.compile("a*rd*|a+b|p")
_BROKEN_OFF: dict[StopReason, re.Pattern[str]] = {"eos": re.compile("a+"), "stop_string": re.compile("a+d*")}


def check_ending(
    settings: Settings,
    prompt: Prompt,
    rounds: Sequence[Round],
    output: Output,
    limits: Limits | None,
    resumed: Resumed | None = None,
) -> None:
    """Raise `BadInput` unless the rounds are as long as `settings` have them, and ended for the reason named.

    limits: None in a file that does not tell them; then any are assumed that go with its stop reason. resumed: of a
    run that went on from another's output, in which a stop string may have begun.
    """
    prompt_length = len(prompt.ids)
    assumed = limits or _assumed(prompt_length, output)
    room = assumed.target_length - prompt_length
    if room < 1 or len(output.ids) > min(settings.max_new_tokens, room):
        raise BadInput(
            "The trace has {prompt:,} + {output:,} tokens, more than its max_new_tokens ({most}) or its target's "
            "length allow.",
            prompt=prompt_length, output=len(output.ids), most=settings.max_new_tokens,
        )
    written = prompt.tokens[prompt_length - resumed.written :] if resumed else ()
    begun = begun_stop("".join(token.text for token in written), settings.stop_strings)
    _check_reason(settings, room, rounds, replace(output, text=begun + output.text), assumed.eos_ids)
    for index, round_ in enumerate(rounds):
        broken_off = _BROKEN_OFF.get(output.stop_reason) if index == len(rounds) - 1 else None
        kinds = letters(round_)
        if not (_WHOLE.fullmatch(kinds) or broken_off and broken_off.fullmatch(kinds)):
            raise BadInput("Round {index} of the trace ends before its target added a token.", index=index)
    check_drafted(settings, prompt_length, rounds, limits, room)


def begun_stop(text: str, stop_strings: Sequence[str]) -> str:
    """The end of `text`, written before, in which a stop string may have begun; none is complete in it."""
    longest = max(map(len, stop_strings), default=1)
    ends = [text.rindex(stop) + len(stop) for stop in stop_strings if stop in text]
    return text[max(len(text) - longest + 1, *ends, 0) :]


def _assumed(prompt_length: int, output: Output) -> Limits:
    """Limits that go with what an output says of its end."""
    full = output.stop_reason == "context_full"
    ends = output.ids[-1:] if output.stop_reason == "eos" else ()
    length = prompt_length + len(output.ids) + (0 if full else 1)
    return Limits(eos_ids=ends, target_length=length if full else max(length, 2**31), draft_length=None)


def _check_reason(
    settings: Settings, room: int, rounds: Sequence[Round], output: Output, eos_ids: Sequence[int]
) -> None:
    last = next((p for p in reversed(rounds[-1].positions) if p.kind != "discarded"), None) if rounds else None
    before = output.text[: len(output.text) - len(last.text)] if last else ""
    if set(output.ids[:-1]) & set(eos_ids) or any(stop in before for stop in settings.stop_strings):
        raise BadInput("The trace's output goes on behind the end of its text.")
    reason = _reason(settings, room, output, eos_ids)
    if output.stop_reason != reason:
        raise BadInput(
            "The trace's stop_reason is {said}, but what it shows is {reason}.", said=output.stop_reason, reason=reason
        )
    if reason == "stop_string" and any(stop in output.text[:-1] for stop in settings.stop_strings):
        raise BadInput("The trace's output has text behind its stop string.")


def _reason(settings: Settings, room: int, output: Output, eos_ids: Sequence[int]) -> StopReason:
    if output.ids and output.ids[-1] in eos_ids:
        return "eos"
    if any(stop in output.text for stop in settings.stop_strings):
        return "stop_string"
    if len(output.ids) == min(settings.max_new_tokens, room):
        return "length" if settings.max_new_tokens <= room else "context_full"
    return "cancelled"
