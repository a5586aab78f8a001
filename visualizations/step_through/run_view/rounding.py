"""Where nothing but rounding can reject a draft: the very same weights drafting for themselves in short numbers."""

from __future__ import annotations

from specdec.settings import Settings

SHORT_NUMBERS = ("bfloat16", "float16")
KEEP_EQUALS = ("token", "block", "no_residual", "lenient", "ensemble")  # rules that keep every draft where p_big = p_small


def rounding_apart(target: str, draft: str | None, dtype: str, settings: Settings) -> str | None:
    """`dtype` if its rounding is all that can set p_small and p_big apart and the acceptance rate below 1, else None.

    So it is where a model drafts for itself, both sample alike, and the rule keeps every draft of equal laws. In
    float32 the two laws differ by a millionth at most.
    """
    same = target == draft and settings.drafter == "model" and settings.draft_temperature in (None, settings.temperature)
    keeps = settings.temperature == 0 or settings.rule in KEEP_EQUALS
    return dtype if same and keeps and dtype in SHORT_NUMBERS else None
