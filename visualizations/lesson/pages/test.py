"""Page 9: a test that an exact rule passes and a biased one fails, and what a pass is worth."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from math import log
from typing import Any

import gradio as gr

from specdec.settings import EXACT_RULES
from specdec.trace.trace import Trace
from visualizations.components.model_events import AT_ONCE, QUIET
from visualizations.figures.labels import token_label
from visualizations.lesson.page import Page
from visualizations.lesson.runs import recorded_run
from visualizations.lesson.written import written_choice, written_page
from visualizations.text import t
from visualizations.why_exact.at_once import draw_at_once
from visualizations.why_exact.bars import PRESETS, UNIT, preset_value
from visualizations.why_exact.draws import SIZES
from visualizations.why_exact.sampling_view import SamplingView, waiting_value
from visualizations.why_exact.tables import rule_name

KEY = "test"
BARS, N, SEED = "five", SIZES[1], 0
RULES = ("token", "no_residual")
BF16_DIGITS = 8  # binary digits of a bfloat16, the hidden one among them
LOGIT = 16  # a usual size of the largest logits
SAMPLED = "facts"

# What each option says of the two runs: whether they pass, and whether a pass is read for what it is.
_SAID = {
    "seen": ((True, False), True),
    "both_pass": ((True, True), True),
    "both_fail": ((False, False), True),
    "proof": ((True, False), False),
    "chance": ((True, False), False),
}


@dataclass(frozen=True)
class NearTies:
    """Places of a run whose two likeliest tokens have logits closer than numbers of a kind can tell apart.

    closest: the two of the place where they are closest, and how far apart.
    """

    places: int
    of: int
    closest: tuple[str, str, float]


def test_page() -> Page:
    """Run the test with a rule that is exact and with one that isn't."""
    small, big = ([mass / UNIT for mass in masses] for masses in PRESETS[BARS])
    passes = tuple(rule in EXACT_RULES for rule in RULES)
    numbers = {
        "n": f"{N:,}",
        "beta": f"{sum(map(min, small, big)):.2f}",
        "tv": f"{distance_without_residual(small, big):.2f}",
        "usual": f"{N**-0.5:.2f}",
        "exact_rule": rule_name(RULES[0]),
        "biased_rule": rule_name(RULES[1]),
        **_closest_logits(),
    }
    (right,) = (name for name, (verdicts, fair) in _SAID.items() if verdicts == passes and fair)
    return written_page(KEY, _figure, written_choice(KEY, right, numbers), numbers)


def distance_without_residual(small: list[float], big: list[float]) -> float:
    """Total variation between p_big and what comes out where a rejected draft is replaced from p_big itself: the part
    that was kept is then given out twice."""
    kept = list(map(min, small, big))
    refused = 1 - sum(kept)
    return sum(abs(held + refused * p - p) for held, p in zip(kept, big)) / 2


def near_ties(run: Trace, closer_than: float) -> NearTies:
    """In the emitted places of a run that was sampled from all tokens at its temperature."""
    gaps = []
    for position in (position for round_ in run.rounds for position in round_.positions if position.kind != "discarded"):
        first, second = sorted(position.candidates, key=lambda candidate: -candidate.p)[:2]
        if second.p > 0:
            names = (token_label(token.text, token.id, token.bytes) for token in (first, second))
            gaps.append((run.settings.temperature * log(first.p / second.p), *names))
    gap, one, other = min(gaps)
    return NearTies(sum(gap < closer_than for gap, *_ in gaps), len(gaps), (one, other, gap))


def _closest_logits() -> dict[str, object]:
    """Near-ties of a recorded run, as bfloat16 would see them."""
    step = LOGIT * 2.0 ** (1 - BF16_DIGITS)
    run = recorded_run(SAMPLED)
    ties = near_ties(run, step)
    one, other, gap = ties.closest
    return {
        "digits": BF16_DIGITS,
        "logit": LOGIT,
        "twice": 2 * LOGIT,
        "step": f"{step:g}",
        "prompt": run.prompt.text,
        "near": ties.places,
        "all": ties.of,
        "one": one,
        "other": other,
        "gap": f"{gap:.3f}",
    }


def _figure() -> SamplingView:
    with gr.Row():
        buttons = [
            gr.Button(t("lesson.pages.test.button", rule=rule_name(rule)), min_width=180, elem_id=f"lesson-test-{rule}")
            for rule in RULES
        ]
    drawn = SamplingView(elem_id="lesson-test-view")
    for rule, button in zip(RULES, buttons):
        want = waiting_value(t("exact.sampling.drawing"), source="bars") | {"ask": "ask_bars", "rule": rule}
        script = f"(drawn) => drawn.state === 'waiting' ? drawn : {json.dumps(want)}"
        button.click(None, drawn, drawn, js=script, **QUIET)
    drawn.ask_bars(_drawn, drawn, drawn, **AT_ONCE)
    return drawn


def _drawn(wish: Any) -> dict[str, Any]:
    """The test that the page wants. wish: a waiting value, which names the rule; untrusted."""
    rule = wish.get("rule") if isinstance(wish, dict) else None
    return draw_at_once("bars", threading.Event(), rule, N, SEED, preset_value(BARS))
