"""What a page sends when it is opened."""

from __future__ import annotations

from functools import partial

from visualizations.components.slim_config import slim
from visualizations.demo import build_demo


def component(name: str, **props: object) -> dict[str, object]:
    return {"id": name, "props": props}


def test_each_script_stands_in_the_head_once_and_is_called_by_its_components() -> None:
    same, other = 'element.textContent = "a";', "draw();"
    config = {"head": "<meta>", "components": [component("a", js_on_load=same), component("b", js_on_load=other), component("c", js_on_load=same)]}
    made = slim(config)
    calls = [part["props"]["js_on_load"] for part in made["components"]]
    assert calls[0] == calls[2] != calls[1]
    assert made["head"].count(same) == made["head"].count(other) == 1 and made["head"].endswith("<meta>")
    assert all(f'"{call.split(chr(34))[1]}": function (' in made["head"] for call in calls)
    assert config["components"][0]["props"]["js_on_load"] == same


def test_listeners_are_left_out_and_nothing_else() -> None:
    (made,) = slim({"components": [component("a", value=1, tab=partial(print))]})["components"]
    assert made["props"] == {"value": 1}


def test_the_page_holds_plain_data_alone() -> None:
    def others(found: object) -> list[object]:
        if isinstance(found, dict):
            return [odd for value in found.values() for odd in others(value)]
        if isinstance(found, list | tuple):
            return [odd for value in found for odd in others(value)]
        return [] if found is None or isinstance(found, str | int | float) else [found]

    parts = [part for part in build_demo().config["components"] if part["type"] == "html"]
    assert parts and others(parts) == []
