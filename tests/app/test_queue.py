"""The queue for the models: who stands in it, and that a visitor stands in it once."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from tests.held_table import HeldTable
from tests.launched import launched, only
from visualizations.components.settings_form import form_values
from visualizations.demo import build_demo
from visualizations.step_through.examples import examples


def test_only_what_needs_the_models_stands_in_the_queue() -> None:
    queued = [fn for fn in build_demo().fns.values() if fn.fn and fn.queue and ("unload" not in str(fn.targets))]
    assert queued and {fn.concurrency_id for fn in queued} == {"model"}
    assert {fn.concurrency_limit for fn in queued} == {1}


def test_a_page_that_asks_five_times_at_once_has_one_run(pair_of: Any) -> None:
    target = HeldTable([0.4, 0.3, 0.2, 0.1])
    pair = pair_of(target, HeldTable([0.1, 0.2, 0.3, 0.4]))
    example = examples()[0]
    pauses_at = [False, False, "", "", ""]
    data = [{}, "t0 t1", *pauses_at, *form_values(example.settings.changed(chat=False), example.choice)]
    with launched(only(pair)) as url:
        index = next(fn for fn, made in build_demo().fns.items() if made.validator and len(made.inputs) == len(data))
        target.gate.clear()
        answers = [join(url, {"data": data, "fn_index": index, "session_hash": "one"}) for _ in range(5)]
        other = join(url, {"data": data, "fn_index": index, "session_hash": "two"})
        target.gate.set()
    assert answers == [200, 422, 422, 422, 422]
    assert other == 200


def join(url: str, body: dict[str, Any]) -> int:
    """The status of the answer to a wish for the queue."""
    request = urllib.request.Request(
        f"{url}gradio_api/queue/join", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        return refusal.code
