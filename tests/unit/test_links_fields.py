"""What a link may say: every box of the settings form can stand in one, and the examples are told apart by them."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402

from specdec.settings import Settings  # noqa: E402
from visualizations.components.settings_form import PAIR_FIELDS, SETTING_FIELDS, build_settings_form, read_form  # noqa: E402
from visualizations.links import PageLink  # noqa: E402
from visualizations.step_through.examples import examples  # noqa: E402


@pytest.fixture(scope="module")
def link() -> PageLink:
    with gr.Blocks():
        form = build_settings_form(Settings())
        return PageLink(["step-through"], form.components)


def test_every_box_can_stand_in_a_link_and_what_is_left_out_can_be_run(link: PageLink) -> None:
    fields = {field["name"]: field for field in link.props["fields"]}
    assert tuple(fields) == SETTING_FIELDS + PAIR_FIELDS
    values = [0 if name == "seed" else field["value"] for name, field in fields.items()]
    assert read_form(values)[1] == Settings()
    assert fields["seed"]["value"] is None  # drawn afresh
    assert fields["gamma"]["whole"] and not fields["temperature"]["whole"]
    assert "block" in fields["rule"]["choices"] and fields["target"]["longest"] == 96


def test_what_an_example_puts_in_the_boxes_is_its_own(link: PageLink) -> None:
    shown = {example["key"]: example for example in link.props["examples"]}
    for example in examples():
        prompt, *values = shown[example.key]["form"]
        assert prompt == example.prompt
        assert read_form(values)[1] == example.settings
    assert len({example["run"] for example in shown.values()}) == len(examples())
