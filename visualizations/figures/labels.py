"""A token's text with everything invisible made visible. Text stays text: no markup comes out of here."""

from __future__ import annotations

import regex

MARKS = {" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍", "\u00a0": "⍽"}
LONGEST_TICK = 12
_RUNS = regex.compile(r"([␣⏎⇥])\1{3,}")

# One emoji, with what chooses its look behind it; joined ones are one sign.
_EMOJI = r"\p{ExtPict}(?:\p{EMod}|[\uFE0E\uFE0F]|[\U000E0020-\U000E007E]+\U000E007F)?"
# Letters and symbols of their script that are drawn as nothing: Braille, musical, Egyptian and Khitan blanks, and the
# stand-in for an object.
_BLANK = r"\u2800\uFFFC\U0001D159\U00013441\U00013442\U00016FE4"
_PARTS = regex.compile(
    rf"(?P<drawn>{_EMOJI}(?:\u200D{_EMOJI})*|[0-9#*]\uFE0F?\u20E3|(?<=\p{{ccc=9}})\u200D(?=\p{{L}}))"
    rf"|(?P<space>[{''.join(MARKS)}])"
    rf"|(?P<unseen>[\p{{C}}\p{{Z}}\p{{DI}}{_BLANK}])"
    rf"|\A(?P<accent>[\p{{Mn}}\p{{Me}}])"
)


def token_label(text: str, token_id: int, part: str | None = None) -> str:
    """What to show for a token: ' sky' -> '␣sky', a part of a character -> its bytes in ‹›; never empty."""
    if not text:
        return f"‹{part}›" if part else f"‹id {token_id}›"
    return _RUNS.sub(lambda run: f"{run[1]}×{len(run[0])}", _PARTS.sub(_shown, text))


def tick_label(label: str) -> str:
    """A label cut to fit under a bar, escaped for plotly, which would read <b> and $x$ as markup."""
    cut = label if len(label) <= LONGEST_TICK else label[: LONGEST_TICK - 1] + "…"
    return escaped(cut)


def escaped(label: str) -> str:
    """`label` with plotly's pseudo-HTML and LaTeX signs as entities."""
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;")):
        label = label.replace(sign, entity)
    return label


def _shown(part: regex.Match[str]) -> str:
    character = part[0]
    if part["space"]:
        return MARKS[character]
    if part["unseen"]:
        return f"‹U+{ord(character):04X}›"
    return "◌" + character if part["accent"] else character
