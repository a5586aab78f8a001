"""A visit to the app, played while the files are written: what its server would answer is known beforehand wherever
nothing is asked of the models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.block_function import BlockFunction
from gradio.blocks import Block

from visualizations.components.table_view import table
from visualizations.site.kept import EXAMPLES, TESTS
from visualizations.text import t
from visualizations.why_exact.sampling_view import waiting_value

Values = dict[int, Any]  # of blocks, by their ids
STALE = "today"  # elem_id of the table that the server makes anew whenever the bars change


@dataclass(frozen=True)
class Answer:
    """What the page is told at an event whose first input has everything that is in `given`."""

    given: dict[str, Any]
    values: Values


class Visit:
    """Opens `page`, and then each of its tabs.

    opened: the values of the blocks that this gave; the others have those that they began with.
    """

    def __init__(self, page: gr.Blocks) -> None:
        self._events = list(page.fns.values())
        self._blocks = page.blocks
        self.opened = self._all_at("load", {})
        self.opened |= self._all_at("select", self.opened)

    def answers(self) -> Iterator[tuple[list[tuple[int, str]], list[Answer]]]:
        """Events of blocks, as (id, name), with what they are answered."""
        for block in self._blocks.values():
            if block.elem_id in EXAMPLES:
                yield [(block._id, "click")], [Answer({}, self._example(block))]
        yield self._drawn_tests()
        yield self._stale_table()

    def _example(self, button: Block) -> Values:
        """What is on screen once the button was pressed, as far as it was something else before."""
        pressed = next(event for event in self._events if (button._id, "click") in event.targets)
        shown = next(event for event in self._events if event.trigger_after == pressed._id and event.fn and not event.inputs)
        values = self._told(shown, {})
        values |= self._all_at("select", {**self.opened, **values})
        return {key: value for key, value in values.items() if not _same(value, self._value(key, self.opened))}

    def _drawn_tests(self) -> tuple[list[tuple[int, str]], list[Answer]]:
        """The sampling test of the lesson, whose every choice is fixed but the rule."""
        view = self._named("lesson-test-view")
        (ask,) = (event for event in self._events if (view._id, "ask_bars") in event.targets)
        asked = [waiting_value("", source="bars") | {"rule": rule} for rule in TESTS.values()]
        answers = [Answer({"rule": each["rule"]}, self._told(ask, {view._id: each})) for each in asked]
        return [(view._id, "ask_bars")], answers

    def _stale_table(self) -> tuple[list[tuple[int, str]], list[Answer]]:
        stale = self._named(STALE)
        said = {"tables": [table((), (), title=t("exact.several.today_title"), intro=t("site.stale"))]}
        at = {"release", "load_selected"}
        targets = [target for event in self._events for target in event.targets if target[1] in at and target[0] != stale._id]
        return targets, [Answer({}, {stale._id: said})]

    def _named(self, elem_id: str) -> Block:
        return next(block for block in self._blocks.values() if block.elem_id == elem_id)

    def _all_at(self, name: str, values: Values) -> Values:
        """What all events of this name tell, those of the server alone."""
        told: Values = {}
        for event in self._events:
            if event.fn and any(target[1] == name for target in event.targets):
                told |= self._told(event, values)
        return told

    def _told(self, event: BlockFunction, values: Values) -> Values:
        given = [self._value(block._id, values) for block in event.inputs]
        made = event.fn(*given)  # type: ignore[misc]
        told = made if isinstance(made, list | tuple) and len(event.outputs) > 1 else [made]
        return {block._id: block.postprocess(value) for block, value in zip(event.outputs, told, strict=True)}

    def _value(self, key: int, values: Values) -> Any:
        return values[key] if key in values else getattr(self._blocks[key], "value", None)


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
