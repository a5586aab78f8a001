"""The bars of the exactness tab as data: presets, and the check of what comes back from the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specdec.settings import BadInput, is_unicode, real_number, shown
from visualizations.text import t

MIN_TOKENS, MAX_TOKENS = 3, 8
MAX_NAME_LENGTH = 24
MAX_UNIT = 1_000_000
RAW_DRAFT_TOP_K = 2
UNIT = 100

# p_small, p_big in hundredths.
PRESETS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "article": ((30, 40, 15, 15), (40, 20, 40, 0)),
    "five": ((10, 40, 10, 25, 15), (30, 25, 20, 15, 10)),
    "equal": ((40, 30, 20, 10), (40, 30, 20, 10)),
    "disjoint": ((60, 40, 0, 0), (0, 0, 70, 30)),
    "one_hot": ((100, 0, 0, 0), (40, 30, 20, 10)),
    "near_greedy": ((90, 6, 3, 1), (97, 1, 1, 1)),
}


@dataclass(frozen=True)
class Bars:
    """Checked laws over named cells. p_small, p_big: non-negative, each summing to 1.

    coarse: "all other" of a loaded position is there, as two cells: one where p_small has more, one where
    p_big has more.
    """

    names: tuple[str, ...]
    p_small: tuple[float, ...]
    p_big: tuple[float, ...]
    coarse: bool = False


def preset_value(key: str) -> dict[str, Any]:
    """The value of a `Playground` for a preset."""
    small, big = PRESETS[key]
    tokens = [{"name": name, "q": q, "p": p, "agree": 1} for name, q, p in zip("ABCDEFGH", small, big)]
    return {"tokens": tokens, "unit": UNIT, "source": key}


def checked_bars(value: Any) -> Bars:
    """`Bars` from the value of a `Playground`; raises `BadInput`, one sentence, for anything else."""
    tokens = value.get("tokens") if isinstance(value, dict) else None
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        raise _refusal(value)
    if not MIN_TOKENS <= len(tokens) <= MAX_TOKENS:
        raise _refusal(f"{len(tokens)} tokens")
    cells = [cell for token in tokens for cell in _cells(token)]
    if len(cells) > MAX_TOKENS:
        raise _refusal(f"{len(cells)} cells")
    names, small, big = zip(*cells)
    return Bars(tuple(names), _shares(small), _shares(big), coarse=len(cells) > len(tokens))


def _cells(token: dict[str, Any]) -> list[tuple[str, float, float]]:
    name = token.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_LENGTH or not is_unicode(name):
        raise BadInput(t("exact.bad.name", limit=MAX_NAME_LENGTH, value=shown(name)))
    q = real_number("p_small", token.get("q"), 0, MAX_UNIT)
    p = real_number("p_big", token.get("p"), 0, MAX_UNIT)
    agree = real_number("agree", token.get("agree", 1), 0, 1)
    if agree >= 1:
        return [(name, q, p)]
    half = round(agree * min(p, q)) / 2
    more, less = t("exact.playground.other_a", name=name), t("exact.playground.other_b", name=name)
    return [(more, q - half, half), (less, half, p - half)]


def _shares(masses: tuple[float, ...]) -> tuple[float, ...]:
    total = sum(masses)
    if total <= 0:
        raise _refusal("a sum of 0")
    return tuple(mass / total for mass in masses)


def _refusal(value: Any) -> BadInput:
    text = value if isinstance(value, str) else shown(value)
    return BadInput(t("exact.bad.bars", low=MIN_TOKENS, high=MAX_TOKENS, value=text))
