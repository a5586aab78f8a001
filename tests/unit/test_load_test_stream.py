"""A run put together from the messages that Gradio sends."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from gradio.utils import diff

from visualizations.load_test.page import Places
from visualizations.load_test.stream import RunOnPage

SKIPPED = {"__type__": "update"}
BUSY, DONE = {"text": "1 token", "mood": "busy", "done": 0.5}, {"text": "2 tokens", "mood": "done", "done": None}


def view(first: int, *texts: str, run: str = "one") -> str:
    return json.dumps({"run": run, "first": first, "rounds": [{"text": text} for text in texts]})


def heard(*steps: list[Any]) -> RunOnPage:
    """Each step with the values of view, line and what is kept; sent as Gradio does it, each as what changed."""
    run = RunOnPage(Places(view=0, line=1))
    for before, values in zip([None, *steps], steps):
        sent = values if before is None else [diff(*pair) for pair in zip(before, values, strict=True)]
        run.hear({"msg": "process_generating", "success": True, "output": {"data": deepcopy(sent)}})
    return run


def test_rounds_join_once_whatever_else_changes():
    kept = {"trace": "{}", "run": "one"}
    run = heard(
        [view(0), BUSY, {"missing": "under_way"}], [view(0, "a"), BUSY, {"missing": "under_way"}],
        [view(1, "b", "c"), BUSY, {"missing": "under_way"}], [view(1, "b", "c"), DONE, kept],
    )  # fmt: skip
    assert (run.texts, run.trace, run.words, run.fault, run.over) == (["a", "b", "c"], "{}", "2 tokens", "", False)
    run.hear({"msg": "process_completed", "success": True, "output": {"data": []}})
    assert run.over


def test_what_was_skipped_changes_nothing():
    assert heard([SKIPPED, BUSY, SKIPPED], [view(0, "a"), BUSY, SKIPPED], [SKIPPED, DONE, SKIPPED]).texts == ["a"]


def test_a_round_that_never_came_is_a_fault():
    assert heard([view(0, "a"), BUSY, SKIPPED], [view(2, "c"), BUSY, SKIPPED]).fault == "rounds 1 to 2 never came"


def test_another_run_that_is_kept_is_a_fault():
    assert heard([view(0, "a"), BUSY, SKIPPED], [view(0, "a"), DONE, {"trace": "{}", "run": "two"}]).fault


def test_what_breaks_off():
    failed, gone = RunOnPage(Places(0, 1)), RunOnPage(Places(0, 1))
    failed.hear({"msg": "process_completed", "success": False, "output": {"error": "no"}})
    gone.hear({"msg": "unexpected_error", "message": "Server stopped unexpectedly."})
    assert failed.over and failed.fault == "the event failed: no"
    assert gone.over and gone.fault == "the stream broke off: Server stopped unexpectedly."


def test_words_are_read_in_english():
    line = BUSY | {"text": "\ufdd0Reading\ufdd1读取\ufdd2 a"}
    assert heard([SKIPPED, line, SKIPPED]).words == "Reading a"
