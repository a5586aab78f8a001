"""What the page is told of its components is plain data.

Gradio takes an argument of a gr.HTML's constructor for an event when its script has that name in quotes, and what it
tells then holds the whole app, which is copied for every visitor.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from visualizations.demo import build_demo  # noqa: E402


def bound_in(told: Any, path: str = "") -> Iterator[str]:
    """Where an event of a component stands amid data."""
    if isinstance(told, partial):
        yield path
    elif isinstance(told, dict):
        for key, value in told.items():
            yield from bound_in(value, f"{path}.{key}")
    elif isinstance(told, list | tuple):
        for index, value in enumerate(told):
            yield from bound_in(value, f"{path}[{index}]")


def test_no_component_tells_of_the_whole_app() -> None:
    config = build_demo().get_config_file()
    assert len(config["components"]) > 100
    assert list(bound_in(config["components"])) == []
    assert list(bound_in([{"tab": partial(print)}])) == ["[0].tab"]
