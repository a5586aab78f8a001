"""What a round promises by itself: counts, order and times that fit its positions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specdec.settings import BadInput
from specdec.trace.record import Round

# A round's kinds by their first letters: accepted drafts, one more token unless the text ended, discarded drafts.
_ORDER = re.compile("a*[rbp]?d*")
# What a clock read in seconds since it started may be off by.
_TICK = 1e-6
MOST_SHARING = 4096


def check_round(index: int, round_: Round, start: int) -> None:
    """Raise `BadInput` unless the counts are those of the positions, which stand in the order a round fills them.

    start: the output index at which the round begins.
    """
    kinds = [position.kind for position in round_.positions]
    accepted, discarded = kinds.count("accepted"), kinds.count("discarded")
    counts = {
        "drafted": sum(position.draft_id is not None for position in round_.positions),
        "tested": accepted + kinds.count("replaced"),
        "accepted": accepted,
        "emitted": len(kinds) - discarded,
    }
    for name, count in counts.items():
        if getattr(round_, name) != count:
            raise BadInput(
                "Round {index} of the trace has another number of {name} tokens than its positions show.",
                index=index, name=name,
            )
    if not _ORDER.fullmatch(letters(round_)):
        raise BadInput(
            "Round {index} of the trace has its {kinds} positions in an impossible order.",
            index=index, kinds=", ".join(kinds[:20]),
        )
    if [position.output_index for position in round_.positions] != list(range(start, start + len(kinds))):
        raise BadInput(
            "Round {index} of the trace does not continue the output where the round before it ended.", index=index
        )


def letters(round_: Round) -> str:
    """The kinds of its positions by their first letters."""
    return "".join(position.kind[0] for position in round_.positions)


def check_sharing(first_schema: bool, rounds: Sequence[Round]) -> None:
    """Raise `BadInput` unless so many runs as a round names can have shared its pass; schema 1 names none."""
    most = 0 if first_schema else MOST_SHARING
    for index, round_ in enumerate(rounds):
        if round_.sharing is not None and not 1 <= round_.sharing <= most:
            raise BadInput("Round {index} of the trace names a number of runs that cannot have shared it.", index=index)


def check_times(rounds: Sequence[Round], prefill_seconds: float) -> None:
    """Raise `BadInput` unless time runs forward: the first round starts at 0, none before its predecessor's end."""
    if prefill_seconds < 0:
        raise BadInput(
            "The trace's prefill_seconds are {prefill_seconds:.3g}, less than none.", prefill_seconds=prefill_seconds
        )
    earliest, latest = 0.0, _TICK
    for index, round_ in enumerate(rounds):
        parts = (round_.draft_seconds, round_.verify_seconds)
        if not earliest - _TICK <= round_.started <= latest or min(parts) < 0 or sum(parts) > round_.seconds + _TICK:
            raise BadInput("Round {index} of the trace has times that do not follow each other.", index=index)
        earliest, latest = round_.started + round_.seconds, float("inf")
