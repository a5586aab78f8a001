"""Breakpoints: what a run is to pause at, and where it is met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from specdec.settings import MAX_ENTROPY, MAX_STOP_STRING_LENGTH, BadInput, is_unicode, real_number
from specdec.trace.growing import Step
from specdec.trace.record import Position
from visualizations.components.settings_form import optional_number
from visualizations.text import t

_FIELDS = ("every_round", "rejection", "overlap", "entropy", "text")


@dataclass(frozen=True)
class Pause:
    """Where a run paused: a place of its newest round, and the sentence that says why."""

    place: int
    why: str


@dataclass(frozen=True)
class Until:
    """What a run pauses at; by default at nothing.

    overlap: a tested draft's overlap below it, in (0, 1]. entropy: a place of the text whose target entropy lies
    above it, in nats. text: it appears in the output, '' for none.
    """

    every_round: bool = False
    rejection: bool = False
    overlap: float | None = None
    entropy: float | None = None
    text: str = ""

    def met(self, step: Step, before: str) -> Pause | None:
        """The first breakpoint that the newest round met, None for none. before: the output up to it."""
        positions = step.round.positions
        written = [(place, p) for place, p in enumerate(positions) if p.kind != "discarded"]
        for place, position in written:
            if why := self._why(position):
                return Pause(place, why)
        if self.text and (place := _appears(self.text, before, [p for _, p in written])) is not None:
            return Pause(place, t("until.met.text"))
        return Pause(0, t("until.met.every_round")) if self.every_round else None

    def _why(self, position: Position) -> str | None:
        if self.rejection and position.kind == "replaced":
            return t("until.met.rejection")
        overlap = position.overlap
        if self.overlap is not None and overlap is not None and overlap < self.overlap:
            return t("until.met.overlap", value=f"{overlap:.3g}", limit=f"{self.overlap:g}")
        if self.entropy is not None and position.target_entropy > self.entropy:
            return t("until.met.entropy", value=f"{position.target_entropy:.3g}", limit=f"{self.entropy:g}")
        return None


def _appears(text: str, before: str, written: Sequence[Position]) -> int | None:
    """The place whose token completes `text` in the output, which was `before` until then."""
    tail = before[max(0, len(before) - len(text) + 1) :]
    for place, position in enumerate(written):
        tail += position.text
        if text in tail:
            return place
        tail = tail[max(0, len(tail) - len(text) + 1) :]
    return None


def build_until() -> list[Component]:
    """The boxes, in the order that `read_until` takes their values."""
    with gr.Row():
        flags = [gr.Checkbox(False, label=t(f"until.{name}.label"), interactive=True) for name in _FIELDS[:2]]
    with gr.Row():
        texts = [
            gr.Textbox("", label=t(f"until.{name}.label"), info=t(f"until.{name}.info"), max_lines=1, interactive=True)
            for name in _FIELDS[2:]  # texts all, since a box for numbers holds 0 when it is empty
        ]
    return [*flags, *texts]


def read_until(values: Sequence[Any]) -> Until:
    """Checked breakpoints from the raw values of the boxes; raises `BadInput`."""
    every_round, rejection, overlap, entropy, text = values
    for name, value in zip(_FIELDS, (every_round, rejection), strict=False):
        if not isinstance(value, bool):
            raise BadInput("{name} must be true or false.", name=name)
    if not isinstance(text, str) or len(text) > MAX_STOP_STRING_LENGTH or not is_unicode(text):
        raise BadInput("The text to pause at has at most {longest} characters.", longest=MAX_STOP_STRING_LENGTH)
    return Until(
        every_round,
        rejection,
        _limit("The overlap to pause below", overlap, 1.0),
        _limit("The entropy to pause above", entropy, MAX_ENTROPY),
        text,
    )


def _limit(name: str, value: Any, high: float) -> float | None:
    number = optional_number(value)
    return None if number is None else real_number(name, number, 0.0, high)
