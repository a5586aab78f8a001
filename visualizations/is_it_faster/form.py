"""What a visitor chooses for a race or a measurement, and the way from raw values to a checked request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from specdec.models.catalogue import CATALOGUE
from specdec.settings import DRAFTERS, MAX_GAMMA, BadInput, Settings, choice, shown, whole_number
from specdec.timing.prompts import OWN_KINDS, own_prompts
from visualizations.serving.first_pair import first_choice, startable
from visualizations.serving.inputs import PairChoice, checked_flag
from visualizations.text import say, t

PROMPTS = OWN_KINDS
SETTING_FIELDS = ("gamma", "temperature", "rule", "drafter", "max_new_tokens")
RULES_HERE = ("token", "match")
MOST_TOKENS, MOST_REPEATS = 256, 20
USUAL_TEMPERATURE = 2.0
START = Settings(temperature=0.0, max_new_tokens=64)
START_PROMPTS = ("code", "story", "summary")
START_REPEATS = 3


@dataclass(frozen=True)
class SettingsPart:
    """The components that every measurement shares: the pair, then `SETTING_FIELDS`."""

    components: tuple[Component, ...]


@dataclass(frozen=True)
class RunsPart:
    """The components of what is repeated: prompts, repeats, with_transformers."""

    components: tuple[Component, ...]


@dataclass(frozen=True)
class Runs:
    """Checked: which prompts, how often, and whether `generate()` runs too."""

    prompts: tuple[str, ...]
    repeats: int
    with_transformers: bool


def build_settings_part() -> SettingsPart:
    """Create the components inside the Blocks that is open."""
    with gr.Row():
        pair = gr.Dropdown(
            [(say(spec.title), key) for key, spec in CATALOGUE.items()], value=first_choice().key,
            label=t("app.pair.label"), info=t("app.pair.info"), interactive=True, scale=2,
        )  # fmt: skip
        gamma = _slider("gamma", 1, MAX_GAMMA, 1, START.gamma)
        temperature = _slider("temperature", 0, USUAL_TEMPERATURE, 0.05, START.temperature)
    with gr.Row():
        rule = _dropdown("rule", RULES_HERE, START.rule)
        drafter = _dropdown("drafter", DRAFTERS, startable(START, first_choice()).drafter)
        tokens = _slider("max_new_tokens", 8, MOST_TOKENS, 1, START.max_new_tokens)
    return SettingsPart((pair, gamma, temperature, rule, drafter, tokens))


def build_runs_part() -> RunsPart:
    """Create the components inside the Blocks that is open."""
    prompts = gr.CheckboxGroup(
        [(t(f"measuring.prompt.{key}"), key) for key in PROMPTS], value=list(START_PROMPTS),
        label=t("faster.measure.prompts"), interactive=True, elem_id="timing-prompts",
    )  # fmt: skip
    repeats = gr.Slider(
        1, MOST_REPEATS, START_REPEATS, step=1, buttons=[], interactive=True,
        label=t("faster.measure.repeats"), info=t("faster.measure.repeats_info"), elem_id="timing-repeats",
    )  # fmt: skip
    generate = gr.Checkbox(
        False, interactive=True, label=t("faster.measure.with_transformers"), info=t("faster.measure.with_transformers_info")
    )
    return RunsPart((prompts, repeats, generate))


def read_settings(values: Sequence[Any]) -> tuple[PairChoice, Settings]:
    """Checked choices from the raw values of a `SettingsPart`; raises `BadInput`."""
    pair, *rest = values
    named = dict(zip(SETTING_FIELDS, rest, strict=True))
    picked = PairChoice(choice("pair", pair, tuple(CATALOGUE)))
    whole_number("gamma", named["gamma"], 1, MAX_GAMMA)
    whole_number("max_new_tokens", named["max_new_tokens"], 1, MOST_TOKENS)
    choice("rule", named["rule"], RULES_HERE)
    return picked, Settings.checked(**named)


def read_runs(values: Sequence[Any]) -> Runs:
    """Checked choices from the raw values of a `RunsPart`; raises `BadInput`."""
    keys, repeats, with_transformers = values
    if not isinstance(keys, list) or not keys:
        raise BadInput("prompts must be one or more of {keys}, not {value}.", keys=", ".join(PROMPTS), value=shown(keys))
    picked = [choice("prompts", key, PROMPTS) for key in keys]
    checked_flag("with_transformers", with_transformers)
    texts = dict(zip(PROMPTS, own_prompts(), strict=True))
    prompts = tuple(texts[key] for key in PROMPTS if key in picked)
    return Runs(prompts, whole_number("repeats", repeats, 1, MOST_REPEATS), with_transformers)


def _slider(name: str, low: float, high: float, step: float, value: float) -> Component:
    info = t("faster.measure.gamma_info" if name == "gamma" else f"app.{name}.info")
    return gr.Slider(
        low, high, value, step=step, label=t(f"app.{name}.label"), info=info, interactive=True, buttons=[], elem_id=f"timing-{name}"
    )


def _dropdown(name: str, keys: Sequence[str], value: str) -> Component:
    choices = [(t(f"app.{name}.{key}"), key) for key in keys]
    return gr.Dropdown(choices, value=value, label=t(f"app.{name}.label"), info=t(f"app.{name}.info"), interactive=True)
