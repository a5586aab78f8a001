"""What the page accepts from a visitor."""

from __future__ import annotations

import pytest

from specdec.models.catalogue import CATALOGUE, DEFAULT_PAIR
from specdec.settings import BadInput, Settings
from visualizations.components.settings_form import form_values, read_form
from visualizations.serving.inputs import CUSTOM, PairChoice, checked_prompt, hub_id, pair_choice
from visualizations.step_through.examples import examples, recorded_trace

START = form_values(Settings(), PairChoice(DEFAULT_PAIR))


@pytest.mark.parametrize("text", ["gpt2/x", "Qwen/Qwen2.5-0.5B-Instruct", " owner/model_1.0 "])
def test_hub_ids_pass(text: str) -> None:
    assert hub_id("target", text) == text.strip()


@pytest.mark.parametrize(
    "text", ["gpt2", "/etc/passwd", "../x", "a/../b", "a/..", "./x", "a/b/c", "a/b\n", "a b/c", "specdec/distill", "a/" + "b" * 96, None, 3]
)
def test_nothing_else_passes_for_a_hub_id(text: object) -> None:
    if text == "a/b\n":  # surrounding space is no fault
        assert hub_id("draft", text) == "a/b"
        return
    with pytest.raises(BadInput, match="^draft must be a Hub id"):
        hub_id("draft", text)


def test_a_custom_pair_needs_both_ids() -> None:
    assert pair_choice(CUSTOM, "a/b", "c/d") == PairChoice(CUSTOM, "a/b", "c/d")
    with pytest.raises(BadInput, match="^draft"):
        pair_choice(CUSTOM, "a/b", "")


def test_the_form_of_every_example_reads_back_as_the_example() -> None:
    for example in examples():
        assert read_form(form_values(example.settings, example.choice)) == (example.choice, example.settings)


def test_stop_strings_are_lines_and_a_typed_backslash_n_is_a_line_break() -> None:
    settings = Settings.checked(stop_strings=["\n\n", "End"])
    values = form_values(settings, PairChoice(DEFAULT_PAIR))
    assert "\\n\\n\nEnd" in values
    assert read_form(values)[1] == settings


@pytest.mark.parametrize("place", range(len(START)))
def test_a_missing_or_strange_value_anywhere_in_the_form_is_refused_or_means_its_default(place: int) -> None:
    for value in ({"a": 1}, [1], "\x00<b>", -7, float("nan")):
        values = [*START]
        values[place] = value
        try:
            choice, settings = read_form(values)
        except BadInput as refusal:
            assert "\n" not in str(refusal) and len(str(refusal)) < 400
        else:  # the Hub ids of a pair of the catalogue don't matter; any text can be a stop string
            assert choice.key in CATALOGUE and isinstance(settings, Settings)


@pytest.mark.parametrize("prompt", ["", None, 3, ["a"], "x" * 100_001])
def test_prompts_that_no_model_need_see(prompt: object) -> None:
    with pytest.raises(BadInput, match="^prompt"):
        checked_prompt(prompt)


def test_every_example_has_a_recorded_run_of_itself() -> None:
    for example in examples():
        trace = recorded_trace(example)
        assert trace.prompt.text == example.prompt
        assert trace.settings == example.settings
        assert trace.pair.name == example.choice.key
        assert trace.output.stop_reason != "cancelled"
