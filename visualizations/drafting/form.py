"""What a visitor chooses for the measurements of this tab, and the way from raw values to a checked request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from specdec.models.catalogue import CATALOGUE
from specdec.settings import BadInput, Settings, choice, shown, whole_number
from specdec.timing.prompts import OWN_KINDS, own_prompts
from visualizations.serving.first_pair import first_choice
from visualizations.serving.inputs import PairChoice
from visualizations.text import say, t

MOST_TOKENS, MOST_REPEATS = 128, 10
START = Settings(temperature=0.0, max_new_tokens=48)
START_KINDS = ("code", "story", "summary")
START_REPEATS = 3


@dataclass(frozen=True)
class Request:
    """Checked: with which models, which of our prompts by kind, and how often."""

    choice: PairChoice
    settings: Settings
    prompts: tuple[str, ...]
    kinds: tuple[str, ...]
    repeats: int


def build_form() -> tuple[Component, ...]:
    """Create the components inside the Blocks that is open: what `read_form` reads."""
    with gr.Row():
        pair = gr.Dropdown(
            [(say(spec.title), key) for key, spec in CATALOGUE.items()], value=first_choice().key,
            label=t("app.pair.label"), info=t("app.pair.info"), interactive=True,
        )  # fmt: skip
        tokens = _slider("max_new_tokens", 8, MOST_TOKENS, START.max_new_tokens)
        repeats = _slider("repeats", 1, MOST_REPEATS, START_REPEATS)
    kinds = gr.CheckboxGroup(
        [(t(f"measuring.prompt.{kind}"), kind) for kind in OWN_KINDS], value=list(START_KINDS),
        label=t("drafting.form.prompts"), info=t("drafting.form.prompts_info"), interactive=True, elem_id="drafting-prompts",
    )  # fmt: skip
    return pair, tokens, repeats, kinds


def read_form(values: Sequence[Any]) -> Request:
    """A checked request from the raw values of the form; raises `BadInput`."""
    pair, tokens, repeats, kinds = values
    picked = PairChoice(choice("pair", pair, tuple(CATALOGUE)))
    tokens = whole_number("max_new_tokens", tokens, 1, MOST_TOKENS)
    repeats = whole_number("repeats", repeats, 1, MOST_REPEATS)
    if not isinstance(kinds, list) or not kinds:
        raise BadInput(
            "prompts must be one or more of {keys}, not {value}.", keys=", ".join(OWN_KINDS), value=shown(kinds)
        )
    wanted = {choice("prompts", kind, OWN_KINDS) for kind in kinds}
    texts = {kind: text for kind, text in zip(OWN_KINDS, own_prompts(), strict=True) if kind in wanted}
    return Request(picked, START.changed(max_new_tokens=tokens), tuple(texts.values()), tuple(texts), repeats)


def _slider(name: str, low: int, high: int, value: int) -> Component:
    return gr.Slider(
        low, high, value, step=1, buttons=[], interactive=True, elem_id=f"drafting-{name}",
        label=t(f"drafting.form.{name}"), info=t(f"drafting.form.{name}_info"),
    )  # fmt: skip
