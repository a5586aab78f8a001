"""The handout and its key as pages of HTML that are made for printing and ask nobody for anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from visualizations.handout.bars import TOKENS, drawn_bars
from visualizations.handout.drawing import bars_drawing, swatch
from visualizations.handout.numbers import FEWEST, shown
from visualizations.handout.questions import (
    LETTERS,
    counting_question,
    faster_question,
    refill_question,
    target_question,
    waiting_question,
)
from visualizations.handout.rounds import suitable_rounds
from visualizations.text import section, t

_HERE = Path(__file__).parent
_PAGES = Environment(loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)

Blank = Callable[[str, Any], Markup]  # (its name, the answer) -> what stands on paper


def handout(seed: int) -> str:
    """Two pages to fill in. The same seed makes the same numbers; seeds that follow each other have different rounds."""
    return _sheet(seed, _empty, "sheet.html")


def answer_key(seed: int) -> str:
    """The pages of `handout(seed)` filled in, with the reasons."""
    return _sheet(seed, _filled, "key.html")


def _empty(name: str, answer: Any) -> Markup:
    return Markup('<span class="blank" data-blank="{}"></span>').format(name)


def _filled(name: str, answer: Any) -> Markup:
    return Markup('<span class="blank" data-blank="{}">{}</span>').format(name, answer)


def _sheet(seed: int, blank: Blank, template: str) -> str:
    rounds = suitable_rounds()
    random = Random(seed)
    bars, round_ = drawn_bars(random), rounds[seed % len(rounds)]
    return _PAGES.get_template(template).render(
        seed=seed,
        blank=blank,
        round=round_,
        bars=bars,
        drawing=bars_drawing(bars, t("handout.bars.title")),
        waiting=waiting_question(random),
        counting=counting_question(round_.run, random),
        refill=refill_question(random),
        computed=(target_question(bars), faster_question(round_.run)),
        tokens=TOKENS,
        letters=LETTERS,
        shown=shown,
        places=FEWEST,
        swatch=swatch,
        said=section("handout"),
        t=t,
        language=section("page.tag"),
        style=Markup((_HERE / "sheet.css").read_text("utf-8")),
    )
