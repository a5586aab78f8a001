"""What a page sends when it is opened."""

from __future__ import annotations

from visualizations.components.slim_config import slim


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
