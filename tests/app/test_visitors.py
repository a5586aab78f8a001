"""What several visitors, and those who leave, may expect of the app."""

from __future__ import annotations

import time
from collections.abc import Callable

from gradio_client import Client

LONG = {"max_new_tokens": 512, "temperature": 2.0, "chat": False}
SHORT = {"max_new_tokens": 6, "temperature": 1.0, "chat": False}


def test_decode_is_the_only_endpoint(client: Client) -> None:
    api = client.view_api(return_format="dict", print_info=False)
    assert list(api["named_endpoints"]) == ["/decode"]
    assert not api["unnamed_endpoints"]


def test_two_visitors_at_once_each_get_their_own_run(app_url: str) -> None:
    asked = [("Roses are red and", 1), ("The capital of Italy is", 2)]
    clients = [Client(app_url, verbose=False) for _ in asked]
    alone = [c.predict(prompt, seed=seed, api_name="/decode", **SHORT) for c, (prompt, seed) in zip(clients, asked)]
    jobs = [c.submit(prompt, seed=seed, api_name="/decode", **SHORT) for c, (prompt, seed) in zip(clients, asked)]
    for job, before, (prompt, _) in zip(jobs, alone, asked):
        now = job.result(timeout=120)
        assert now["prompt"]["text"] == prompt
        assert now["output"] == before["output"]


def test_a_cancelled_run_frees_the_models(app_url: str) -> None:
    leaver, next_one = Client(app_url, verbose=False), Client(app_url, verbose=False)
    long_run = leaver.submit("Once upon a time", api_name="/decode", **LONG)
    while not any(output["emitted"] for output in long_run.outputs()):
        time.sleep(0.05)
    long_run.cancel()
    seen = len(long_run.outputs())
    assert next_one.predict("Hello", api_name="/decode", **SHORT)["metrics"]["emitted"] > 0
    time.sleep(1)
    assert len(long_run.outputs()) <= seen + 1


def until(there: Callable[[], object]) -> None:
    while not there():
        time.sleep(0.05)


def test_a_visitor_who_waits_can_leave(app_url: str) -> None:
    first, second = Client(app_url, verbose=False), Client(app_url, verbose=False)
    running = first.submit("Once upon a time", api_name="/decode", **SHORT | {"max_new_tokens": 24})
    until(lambda: running.outputs())
    waiting = second.submit("Once upon a time", api_name="/decode", **LONG)
    until(lambda: waiting.outputs())  # it stands in line, or runs beside the other
    waiting.cancel()
    assert running.result(timeout=120)["metrics"]["emitted"] > 0
    assert second.predict("Hello", api_name="/decode", **SHORT)["prompt"]["text"] == "Hello"
