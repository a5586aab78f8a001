"""Two laws over five tokens that can be computed with by hand."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

from visualizations.handout.numbers import fits

TOKENS = "ABCDE"
UNITS = 20  # the laws are multiples of 1/20
REJECTED = (Fraction(1, 5), Fraction(2, 5), Fraction(1, 2))  # to divide by without a remainder


@dataclass(frozen=True)
class Bars:
    """p_small and p_big of each token, and all that follows from them."""

    small: tuple[Fraction, ...]
    big: tuple[Fraction, ...]

    @property
    def overlap(self) -> tuple[Fraction, ...]:
        """min(p_small, p_big): how often each token comes out as a kept draft."""
        return tuple(map(min, self.small, self.big))

    @property
    def excess(self) -> tuple[Fraction, ...]:
        return tuple(max(q - p, Fraction(0)) for q, p in zip(self.small, self.big))

    @property
    def lack(self) -> tuple[Fraction, ...]:
        return tuple(max(p - q, Fraction(0)) for q, p in zip(self.small, self.big))

    @property
    def beta(self) -> Fraction:
        return sum(self.overlap, Fraction(0))

    @property
    def residual(self) -> tuple[Fraction, ...]:
        """The law of the replacement."""
        whole = sum(self.lack, Fraction(0))
        return tuple(lack / whole for lack in self.lack)

    @property
    def comes_out(self) -> tuple[Fraction, ...]:
        """Kept drafts and replacements together."""
        return self.refilled_from(self.residual)

    def refilled_from(self, law: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        """What comes out where replacements are drawn from `law`."""
        return tuple(kept + (1 - self.beta) * share for kept, share in zip(self.overlap, law))


def drawn_bars(random: Random) -> Bars:
    """Laws with two tokens or more on either side of the argument, and no result of more than three decimals."""
    while True:
        bars = Bars(_law(random), _law(random))
        if _friendly(bars):
            return bars


def _law(random: Random) -> tuple[Fraction, ...]:
    cuts = sorted(random.sample(range(1, UNITS), len(TOKENS) - 1))
    return tuple(Fraction(high - low, UNITS) for low, high in zip([0, *cuts], [*cuts, UNITS]))


def _friendly(bars: Bars) -> bool:
    sides = [sum(map(bool, part)) for part in (bars.excess, bars.lack)]
    return 1 - bars.beta in REJECTED and min(sides) >= 2 and all(map(fits, bars.residual))
