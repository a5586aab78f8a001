"""A token's text with everything invisible made visible. Text stays text: no markup comes out of here."""

from __future__ import annotations

import re
import unicodedata

MARKS = {" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽"}
LONGEST_TICK = 12
_RUNS = re.compile(r"([␣⏎⇥])\1{3,}")
_JOINERS = "\u200d"


def token_label(text: str, token_id: int, part: str | None = None) -> str:
    """What to show for a token: ' sky' -> '␣sky', a part of a character -> its bytes in ‹›; never empty."""
    if not text:
        return f"‹{part}›" if part else f"‹id {token_id}›"
    return _RUNS.sub(lambda run: f"{run[1]}×{len(run[0])}", "".join(_visible(text)))


def tick_label(label: str) -> str:
    """A label cut to fit under a bar, escaped for plotly, which would read <b> and $x$ as markup."""
    cut = label if len(label) <= LONGEST_TICK else label[: LONGEST_TICK - 1] + "…"
    return escaped(cut)


def escaped(label: str) -> str:
    """`label` with plotly's pseudo-HTML and LaTeX signs as entities."""
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;")):
        label = label.replace(sign, entity)
    return label


def _visible(text: str):
    for place, character in enumerate(text):
        kind = unicodedata.category(character)
        if character in MARKS:
            yield MARKS[character]
        elif character in _JOINERS and 0 < place < len(text) - 1:
            yield character
        elif kind in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") or (kind == "Zs"):
            yield f"‹U+{ord(character):04X}›"
        elif kind in ("Mn", "Me") and place == 0:
            yield "◌" + character
        else:
            yield character
