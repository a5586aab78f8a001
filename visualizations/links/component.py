"""`PageLink`: the button that copies the link of what is on screen, and the script that keeps the page's address."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from specdec.settings import Settings
from visualizations.components.scripts import script
from visualizations.components.settings_form import PAIR_FIELDS, SETTING_FIELDS, form_values
from visualizations.components.small_button import SMALL_BUTTON_CSS
from visualizations.serving.first_pair import first_choice, offered, startable
from visualizations.step_through.examples import Example, examples
from visualizations.step_through.kept_run import name_of
from visualizations.text import section

_HERE = Path(__file__).parent
_MEMORY_JS = _HERE.parent / "components" / "memory.js"
_FIELDS = SETTING_FIELDS + PAIR_FIELDS
_LONGEST_TEXT = 1_000  # of a box that has no limit of its own


class PageLink(gr.HTML):
    """Keeps the page's address and brings what an address tells: see link.js for how, and address.js for what.

    tabs: keys of the page's tabs; a link to the first one tells its run. form: the components of the settings form.
    Its value is what an opened address asks of Gradio's own components: {tab} when the event `turn` fires, {form},
    the prompt and the settings, when `fill` does; at `ask` it wants to be told what is in them. `connect_links` sees to both. It asks nothing of the server.
    """

    def __init__(self, tabs: Sequence[str], form: Sequence[Component], **kwargs: Any) -> None:
        super().__init__(
            value={},
            html_template="<button type='button'></button><p role='status'></p>",
            css_template=SMALL_BUTTON_CSS + (_HERE / "link.css").read_text("utf-8"),
            js_on_load=script(_MEMORY_JS, _HERE / "address.js", _HERE / "link.js"),
            apply_default_css=False,
            tabs=list(tabs),
            fields=[_field(name, component, value) for name, component, value in zip(_FIELDS, form, _new_form(), strict=True)],
            examples=[_example(example) for example in examples()],
            words=section("links"),
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}


def _new_form() -> list[Any]:
    """The values that stand for what a link leaves out; the seed is drawn when it is needed."""
    values = form_values(startable(Settings(), first_choice()), first_choice())
    values[_FIELDS.index("seed")] = None
    return values


def _field(name: str, component: Component, value: Any) -> dict[str, Any]:
    """How the value of a box stands in a link: its kind with its limits, and what it is where a link has none."""
    return {"name": name, "value": value} | _kind(component)


def _kind(component: Component) -> dict[str, Any]:
    if isinstance(component, gr.Slider):
        return {"kind": "number", "low": component.minimum, "high": component.maximum, "whole": component.step == 1}
    if isinstance(component, gr.Number):
        return {"kind": "number", "low": component.minimum, "high": component.maximum, "whole": component.precision == 0}
    if isinstance(component, gr.Dropdown):
        return {"kind": "choice", "choices": [value for _, value in component.choices]}
    if isinstance(component, gr.Checkbox):
        return {"kind": "switch"}
    return {"kind": "text", "longest": component.max_length or _LONGEST_TEXT}


def _example(example: Example) -> dict[str, Any]:
    """What its button puts on screen: the name of its run, and the values of the boxes."""
    choice = offered(example.choice)
    form = [example.prompt, *form_values(startable(example.settings, choice), choice)]
    return {"key": example.key, "run": name_of(example), "form": form}
