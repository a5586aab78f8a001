"""Wishes for the models: what counts as one, that a visitor has one at a time, and that those who wait hinder nobody."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from tests.held_table import PATIENCE_SECONDS, HeldTable
from tests.launched import launched, only
from tests.sharing import copies
from visualizations.components.settings_form import form_values
from visualizations.demo import build_demo
from visualizations.step_through.examples import examples

VISITORS = 60


def test_only_what_needs_the_models_is_queued_and_gradio_holds_none_of_it_back() -> None:
    queued = [fn for fn in build_demo().fns.values() if fn.fn and fn.queue and ("unload" not in str(fn.targets))]
    assert queued and {fn.concurrency_id for fn in queued} == {"model"}
    assert {fn.concurrency_limit for fn in queued} == {None}


def test_a_page_that_asks_five_times_at_once_has_one_run(pair_of: Any) -> None:
    target = HeldTable([0.4, 0.3, 0.2, 0.1])
    pair = pair_of(target, HeldTable([0.1, 0.2, 0.3, 0.4]))
    run = a_run()
    with launched(only(pair)) as url:
        target.gate.clear()
        answers = [join(url, run | {"session_hash": "one"}) for _ in range(5)]
        other = join(url, run | {"session_hash": "two"})
        target.gate.set()
    assert answers == [200, 422, 422, 422, 422]
    assert other == 200


def test_sixty_who_wait_take_none_of_the_threads_that_answer_the_page(pair_of: Any) -> None:
    target = HeldTable([0.4, 0.3, 0.2, 0.1])
    pair = pair_of(target, HeldTable([0.1, 0.2, 0.3, 0.4]))
    run, shared = a_run(), []
    at_once = next(fn for fn, made in build_demo().fns.items() if made.fn and not made.queue and not made.inputs)
    with launched(only(pair), slots=2, share=copies(shared)) as url:
        target.gate.clear()
        assert {join(url, run | {"session_hash": f"visitor {n}"}) for n in range(VISITORS)} == {200}
        until(lambda: len(own_threads()) >= VISITORS)  # all of them are there
        for n in range(5):
            assert post(f"{url}gradio_api/run/predict", {"data": [], "fn_index": at_once, "session_hash": f"{n}"}) == 200
        target.gate.set()
        until(lambda: sum(one.ended for one in shared) == VISITORS)
        until(lambda: len(own_threads()) < VISITORS / 2)
        assert [one.most for one in shared] == [2]


def a_run() -> dict[str, Any]:
    """What a page asks with for a run that stops at nothing."""
    example, pauses_at = examples()[0], [False, False, "", "", ""]
    data = [{}, "t0 t1", *pauses_at, *form_values(example.settings.changed(chat=False, max_new_tokens=4), example.choice)]
    index = next(fn for fn, made in build_demo().fns.items() if made.validator and len(made.inputs) == len(data))
    return {"data": data, "fn_index": index}


def own_threads() -> list[threading.Thread]:
    """All but the workers that the server keeps for a while."""
    return [thread for thread in threading.enumerate() if "AnyIO" not in thread.name]


def until(there: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE_SECONDS
    while not there():
        assert time.monotonic() < ends
        time.sleep(0.1)


def join(url: str, body: dict[str, Any]) -> int:
    """The status of the answer to a wish for the queue."""
    return post(f"{url}gradio_api/queue/join", body)


def post(url: str, body: dict[str, Any]) -> int:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        return refusal.code
