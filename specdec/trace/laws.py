"""What temperature, top-k and top-p promise of the laws they leave."""

from __future__ import annotations

from collections.abc import Sequence

from specdec.settings import BadInput, Phrase, Sampling, Settings
from specdec.trace.drafted import is_copy
from specdec.trace.identities import TOLERANCE
from specdec.trace.record import Position

# A copied token is drafted with certainty, as by a greedy draft.
_CERTAIN = Sampling(temperature=0.0)


def check_laws(index: int, position: Position, settings: Settings, vocab_size: int) -> None:
    """Raise `BadInput` unless the position's laws may come from the sampling that `settings` name."""
    p = [candidate.p for candidate in position.candidates]
    whose = Phrase("Position {index} of the trace has a {law}", index=index, law="p")
    _check_law(whose, p, position.other.p, settings.target_sampling, vocab_size)
    if position.draft_id is not None:
        sampling = _CERTAIN if is_copy(position, settings) else settings.draft_sampling
        q = [candidate.q or 0.0 for candidate in position.candidates]
        whose = Phrase("Position {index} of the trace has a {law}", index=index, law="q")
        _check_law(whose, q, position.other.q or 0.0, sampling, vocab_size)


def _check_law(whose: str, masses: Sequence[float], rest: float, sampling: Sampling, vocab_size: int) -> None:
    """masses: of the listed ids; rest: of all others."""
    listed = [mass for mass in masses if mass > 0]
    others = rest > TOLERANCE
    if sampling.temperature == 0:
        if listed != [1.0] or others:
            raise BadInput("{whose} that is spread over several ids, which temperature 0 never leaves.", whose=whose)
        return
    size = sampling.top_k if 0 < sampling.top_k < vocab_size else vocab_size
    if len(listed) + others > size:
        raise BadInput("{whose} over more ids than the {size:,} that top_k keeps.", whose=whose, size=size)
    if sampling.top_p < 1 and listed and not _is_nucleus(min(listed), sampling.top_p, size - len(listed)):
        raise BadInput(
            "{whose} that keeps an id of probability {least:.3g}, which top_p would have cut.",
            whose=whose, least=min(listed),
        )


def _is_nucleus(least: float, top_p: float, cut: int) -> bool:
    """Whether a law that gives some id `least` may be what top_p left, with at most `cut` ids gone.

    Before the cut the kept ids had the mass m. Without the last of them they had less than top_p, so
    m (1 - least) < top_p; each id that was cut had at most the mass of the last, so 1 - m <= cut m least.
    """
    least += TOLERANCE / 1000  # the last digit of what is written down
    kept = min(1.0, (top_p + TOLERANCE) / (1 - least)) if least < 1 else 1.0
    return 1 - kept <= cut * kept * least + TOLERANCE
