"""The five bars as a drawing for paper: the colours and the patterns that the four meanings have on every figure."""

from __future__ import annotations

from fractions import Fraction

from markupsafe import Markup

from visualizations.figures.palette import MEANINGS
from visualizations.handout.bars import TOKENS, Bars

HIGH = 76  # the largest probability
COLUMN, STEP, LEFT, FOOT = 22, 78, 30, 16
FLOOR = HIGH + 8
_STROKES = {
    "/": '<path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="{color}" stroke-width="1.6"/>',
    ".": '<circle cx="3" cy="3" r="1.5" fill="{color}"/>',
    "-": '<path d="M0 3H6" stroke="{color}" stroke-width="1.6"/>',
}


def bars_drawing(bars: Bars, name: str) -> Markup:
    """An inline SVG: for each token p_small as overlap and excess, beside it p_big as overlap and what it has more.

    name: what a screen reader says.
    """
    top, width = max(*bars.small, *bars.big), LEFT + STEP * len(TOKENS)
    grid = [_line(Fraction(tenth, 10), top, width) for tenth in range(int(top * 10) + 1)]
    columns = [_token(place, bars, top) for place in range(len(TOKENS))]
    head = f'<svg class="bars" viewBox="0 0 {width} {FLOOR + FOOT}" role="img" aria-label="{{}}">'
    return Markup(head).format(name) + Markup(_patterns() + "".join(grid + columns) + "</svg>")


def swatch(meaning: str) -> Markup:
    """A small field with the pattern of a meaning, for a legend."""
    return Markup(f'<svg class="swatch" viewBox="0 0 16 10">{_field(meaning, 0.5, 0.5, 15, 9)}</svg>')


def _patterns() -> str:
    tiles = [
        f'<pattern id="fill-{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f"{_STROKES[meaning.pattern].format(color=meaning.color)}</pattern>"
        for name, meaning in MEANINGS.items()
        if meaning.pattern
    ]
    return f"<defs>{''.join(tiles)}</defs>"


def _field(meaning: str, x: float, y: float, width: float, height: float) -> str:
    drawn = MEANINGS[meaning]
    fill = f"url(#fill-{meaning})" if drawn.pattern else drawn.color
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{drawn.color}"/>'


def _y(probability: Fraction, top: Fraction) -> float:
    return FLOOR - HIGH * float(probability / top)


def _line(probability: Fraction, top: Fraction, width: int) -> str:
    y = _y(probability, top)
    return (
        f'<path d="M{LEFT} {y:g}H{width}" stroke="#c8ccd2" stroke-width=".6"/>'
        f'<text x="{LEFT - 4}" y="{y + 3:g}" text-anchor="end" font-size="9">{float(probability):.1f}</text>'
    )


def _token(place: int, bars: Bars, top: Fraction) -> str:
    """Both columns of a token, with its name below."""
    x, nothing, kept = LEFT + STEP * place + (STEP - 2 * COLUMN) / 2, Fraction(0), bars.overlap[place]
    fields = []
    for meaning, left, more in (("excess", x, bars.excess[place]), ("residual", x + COLUMN + 3, bars.lack[place])):
        for name, low, high in (("overlap", nothing, kept), (meaning, kept, kept + more)):
            if low < high:
                fields.append(_field(name, left, _y(high, top), COLUMN, _y(low, top) - _y(high, top)))
    label = f'<text x="{x + COLUMN + 1.5:g}" y="{FLOOR + 12}" text-anchor="middle" font-size="11">{TOKENS[place]}</text>'
    return "".join(fields) + label
