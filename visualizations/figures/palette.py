"""Four meanings, the same on every figure: a colour and a pattern each.

Every colour has a contrast of at least 3 with the light and the dark page, and each pattern differs, so
that a figure can be read without seeing colour.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    """color: '#rrggbb'. pattern: plotly's sign for it; '' is a solid fill."""

    color: str
    pattern: str

    def marker(self) -> dict:
        """The plotly marker of a bar with this meaning."""
        marker: dict = {"color": self.color, "line": {"color": self.color, "width": 1.5}}
        if self.pattern:
            marker["pattern"] = {"shape": self.pattern, "fillmode": "replace", "size": 7, "solidity": 0.4}
        return marker


MEANINGS = {
    "overlap": Meaning("#2a7fd0", ""),  # min(p_big, p_small): kept
    "excess": Meaning("#dd6109", "/"),  # p_small beyond p_big: rejected
    "residual": Meaning("#0e9a77", "."),  # p_big beyond p_small: refilled
    "target": Meaning("#7f8896", "-"),  # p_big where nothing was drafted
}

INK_SHARE = 70  # percent of its colour in a text that has a meaning
MARK_COLOR = "#7f8896"
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#27272a"


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two '#rrggbb' colours, in [1, 21]."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def css_variables() -> str:
    """The colours as CSS custom properties, for parts of the screen that plotly doesn't draw.

    --sd-overlap is the fill; --sd-overlap-ink the same hue for text, nearer to the page's own text colour so
    that it can be read on the light and the dark page.
    """
    fills = {f"--sd-{name}": meaning.color for name, meaning in MEANINGS.items()}
    inks = {f"{name}-ink": f"color-mix(in srgb, var({name}) {INK_SHARE}%, var(--body-text-color))" for name in fills}
    return "".join(f"{name}: {value};\n" for name, value in (fills | inks).items())


def _luminance(color: str) -> float:
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
