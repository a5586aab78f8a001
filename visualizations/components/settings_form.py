"""The settings a visitor can change, as components, and the way from their values to checked settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from specdec.models.catalogue import CATALOGUE
from specdec.settings import (
    DRAFTERS,
    MAX_GAMMA,
    MAX_LOOKUP_MATCH,
    MAX_NEW_TOKENS,
    MAX_SEED,
    MAX_TOP_K,
    POLICIES,
    RULES,
    BadInput,
    Settings,
)
from visualizations.serving.first_pair import first_choice, startable
from visualizations.serving.inputs import CUSTOM, PairChoice, pair_choice
from visualizations.text import say, t

SETTING_FIELDS = (
    "temperature",
    "top_k",
    "top_p",
    "gamma",
    "rule",
    "drafter",
    "lookup_match",
    "policy",
    "confidence_threshold",
    "entropy_threshold",
    "draft_cost",
    "token_cost",
    "max_new_tokens",
    "seed",
    "chat",
    "draft_temperature",
    "stop_strings",
)
PAIR_FIELDS = ("pair", "target", "draft")
# Parameters that are shown only where a choice reads them: the box that chooses, and by its value those it reads.
_READ_BY = {
    "pair": {CUSTOM: ("target", "draft")},
    "drafter": {"lookup_then_model": ("lookup_match",)},
    "policy": {
        "confidence": ("confidence_threshold",),
        "entropy": ("entropy_threshold",),
        "expected": ("draft_cost", "token_cost"),
    },
}
USUAL_TEMPERATURE, USUAL_ENTROPY, USUAL_COST = 2.0, 5.0, 1.0  # the sliders' ends; the API takes more


@dataclass(frozen=True)
class SettingsForm:
    """The components in the order of `SETTING_FIELDS + PAIR_FIELDS`."""

    components: tuple[Component, ...]

    @property
    def seed(self) -> Component:
        """The box of the seed."""
        return self.components[SETTING_FIELDS.index("seed")]


def build_settings_form(start: Settings) -> SettingsForm:
    """Create the components inside the Blocks that is open, and the events that show what a choice reads."""
    start = startable(start, first_choice())
    named = _pair_components() | _sampling_components(start) | _drafting_components(start) | _run_components(start)
    for chooser, reads in _READ_BY.items():
        _show_what_is_read(named, chooser, reads)
    return SettingsForm(tuple(named[name] for name in SETTING_FIELDS + PAIR_FIELDS))


def _show_what_is_read(named: dict[str, Component], chooser: str, reads: dict[str, tuple[str, ...]]) -> None:
    shown_by = {named[name]: value for value, names in reads.items() for name in names}
    named[chooser].change(
        # By component: of a list, an event with one output makes the value of that output.
        lambda value: {part: gr.update(visible=value == needed) for part, needed in shown_by.items()},
        named[chooser],
        list(shown_by),
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )


def read_form(values: Sequence[Any]) -> tuple[PairChoice, Settings]:
    """Checked choices from the raw values of the components; raises `BadInput`."""
    named = dict(zip(SETTING_FIELDS + PAIR_FIELDS, values, strict=True))
    choice = pair_choice(*(named.pop(name) for name in PAIR_FIELDS))
    named["stop_strings"] = stop_strings(named["stop_strings"])
    named["draft_temperature"] = optional_number(named["draft_temperature"])
    return choice, Settings.checked(**named)


def form_values(settings: Settings, choice: PairChoice) -> list[Any]:
    """The components' values for these choices, in the form's order; `read_form` takes them back."""
    values = settings.to_dict()
    values["draft_temperature"] = "" if settings.draft_temperature is None else str(settings.draft_temperature)
    values["stop_strings"] = "\n".join(text.replace("\n", "\\n") for text in settings.stop_strings)
    return [values[name] for name in SETTING_FIELDS] + [choice.key, choice.target, choice.draft]


def stop_strings(text: Any) -> list[str]:
    r"""One stop string a line; a typed \n stands for a line break."""
    if not isinstance(text, str):
        raise BadInput("stop_strings must be text with one stop string on each line.")
    return [line.replace("\\n", "\n") for line in text.split("\n") if line]


def optional_number(text: Any) -> Any:
    """The number in the box, None for an empty one; what is no number is left for its check to refuse."""
    if not isinstance(text, str):
        return text
    try:
        return float(text) if text.strip() else None
    except ValueError:
        return text


def _pair_components() -> dict[str, Component]:
    choices = [(say(spec.title), key) for key, spec in CATALOGUE.items()] + [(t("app.pair.custom"), CUSTOM)]
    with gr.Row():
        pair = gr.Dropdown(
            choices, value=first_choice().key,
            label=t("app.pair.label"), info=t("app.pair.info"), interactive=True, scale=2,
        )  # fmt: skip
        hub_ids = {
            name: gr.Textbox(
                "",
                label=t(f"app.{name}.label"),
                placeholder="owner/model",
                max_lines=1,
                max_length=96,
                visible=False,
                interactive=True,
            )
            for name in ("target", "draft")
        }
    return {"pair": pair, **hub_ids}


def _sampling_components(start: Settings) -> dict[str, Component]:
    with gr.Row():
        return {
            "temperature": _slider("temperature", 0, USUAL_TEMPERATURE, 0.05, start.temperature),
            "top_k": _number("top_k", 0, MAX_TOP_K, start.top_k),
            "top_p": _slider("top_p", 0.05, 1, 0.05, start.top_p),
            "draft_temperature": _text("draft_temperature", placeholder=t("app.draft_temperature.placeholder")),
        }


def _drafting_components(start: Settings) -> dict[str, Component]:
    with gr.Row():
        who = {
            "rule": _dropdown("rule", RULES, start.rule),
            "drafter": _dropdown("drafter", DRAFTERS, start.drafter),
            "lookup_match": _slider("lookup_match", 1, MAX_LOOKUP_MATCH, 1, start.lookup_match, visible=False),
        }
    with gr.Row():
        return who | {
            "gamma": _slider("gamma", 0, MAX_GAMMA, 1, start.gamma),
            "policy": _dropdown("policy", POLICIES, start.policy),
            "confidence_threshold": _slider(
                "confidence_threshold", 0, 1, 0.05, start.confidence_threshold, visible=False
            ),
            "entropy_threshold": _slider(
                "entropy_threshold", 0, USUAL_ENTROPY, 0.05, start.entropy_threshold, visible=False
            ),
            "draft_cost": _slider("draft_cost", 0, USUAL_COST, 0.01, start.draft_cost, visible=False),
            "token_cost": _slider("token_cost", 0, USUAL_COST, 0.01, start.token_cost, visible=False),
        }


def _run_components(start: Settings) -> dict[str, Component]:
    with gr.Row():
        return {
            "max_new_tokens": _slider("max_new_tokens", 1, MAX_NEW_TOKENS, 1, start.max_new_tokens),
            "seed": _number("seed", 0, MAX_SEED, start.seed),
            "chat": gr.Checkbox(start.chat, label=t("app.chat.label"), info=t("app.chat.info"), interactive=True),
            "stop_strings": _text("stop_strings", max_lines=4),
        }


def _slider(name: str, low: float, high: float, step: float, value: float, **kwargs: Any) -> Component:
    return gr.Slider(
        low,
        high,
        value,
        step=step,
        label=t(f"app.{name}.label"),
        info=t(f"app.{name}.info"),
        interactive=True,
        buttons=[],
        **kwargs,
    )


def _text(name: str, **kwargs: Any) -> Component:
    return gr.Textbox(
        "", label=t(f"app.{name}.label"), info=t(f"app.{name}.info"), lines=1, interactive=True, **kwargs
    )


def _number(name: str, low: int, high: int, value: int) -> Component:
    return gr.Number(
        value,
        minimum=low,
        maximum=high,
        precision=0,
        label=t(f"app.{name}.label"),
        info=t(f"app.{name}.info"),
        interactive=True,
    )


def _dropdown(name: str, keys: Sequence[str], value: str) -> Component:
    choices = [(t(f"app.{name}.{key}"), key) for key in keys]
    return gr.Dropdown(choices, value=value, label=t(f"app.{name}.label"), info=t(f"app.{name}.info"), interactive=True)
