"""Numbers as they stand on paper. Whoever computes by hand has only those, so every answer follows from them."""

from __future__ import annotations

from fractions import Fraction

FEWEST, MOST = 2, 3  # decimals


def printed(value: float, decimals: int = MOST) -> Fraction:
    """`value` as it is printed with so many decimals."""
    return Fraction(f"{value:.{decimals}f}")


def shown(number: Fraction, decimals: int | None = None) -> str:
    """With so many decimals; if that is None, with two, or all that it has where they are three."""
    if decimals is None:
        decimals = FEWEST if fits(number, FEWEST) else MOST
    return f"{float(number):.{decimals}f}"


def fits(number: Fraction, decimals: int = MOST) -> bool:
    """Whether so many decimals are all that it has."""
    return 10**decimals % number.denominator == 0
