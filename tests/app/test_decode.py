"""The endpoint `decode`, called the way a program calls it."""

from __future__ import annotations

import json

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

import specdec
from specdec.trace.trace import Trace

SHORT = {"max_new_tokens": 6, "seed": 3}
SHORTEST = {"max_new_tokens": 1, "gamma": 0}


def decode(client: Client, prompt: str = "Why is the sky blue?", **settings: object) -> dict:
    return client.predict(prompt, api_name="/decode", **(SHORT | settings))


def test_it_returns_the_trace_that_the_engine_records(client: Client, default_pair: specdec.Pair) -> None:
    trace = Trace.from_json(json.dumps(decode(client, gamma=3, temperature=0.8)))
    expected = specdec.decode(default_pair, "Why is the sky blue?", gamma=3, temperature=0.8, **SHORT)
    assert trace.output == expected.output
    assert trace.settings == expected.settings


def test_a_whole_number_may_come_as_a_float(client: Client) -> None:
    assert decode(client, gamma=4.0)["settings"]["gamma"] == 4


def test_lists_of_stop_strings_reach_the_run(client: Client) -> None:
    trace = decode(client, stop_strings=["e"], max_new_tokens=40, temperature=0.0)
    assert trace["output"]["stop_reason"] == "stop_string"
    assert trace["output"]["text"].endswith("e")


@pytest.mark.parametrize(
    ("field", "value", "limit"),
    [
        ("gamma", 3.5, "16"),
        ("gamma", -1, "0 to 16"),
        ("temperature", -1, "0 to 10"),
        ("temperature", "hot", "0 to 10"),
        ("top_p", 0, "above 0"),
        ("top_p", 1.5, "up to 1"),
        ("top_k", "", "0 to 1000"),
        ("seed", 1e12, "4294967295"),
        ("max_new_tokens", None, "1 to 512"),
        ("rule", "magic", "token"),
        ("drafter", ["model"], "prompt_lookup"),
        ("chat", "yes", "true or false"),
        ("stop_strings", [""], "1 to 64"),
        ("draft_temperature", 99, "0 to 10"),
        ("pair", "../../etc/passwd", "smollm2"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_in_one_sentence(
    client: Client, field: str, value: object, limit: str
) -> None:
    with pytest.raises(AppError) as refusal:
        decode(client, **{field: value})
    message = str(refusal.value)
    assert message.startswith(field)
    assert repr(value)[:20] in message
    assert limit in message
    assert message.endswith(".") and "\n" not in message and "Traceback" not in message
    assert decode(client, **SHORTEST)["metrics"]["emitted"] == 1  # the session is as good as before


@pytest.mark.parametrize(
    ("prompt", "words"), [("", "empty"), (None, "text"), ("word " * 9000, "tokens"), ("x" * 100_001, "100,000")]
)
def test_a_prompt_that_cannot_be_used_is_refused_in_one_sentence(client: Client, prompt: object, words: str) -> None:
    with pytest.raises(AppError) as refusal:
        decode(client, prompt)
    assert "prompt" in str(refusal.value).lower() and words in str(refusal.value)
    assert decode(client, **SHORTEST)["metrics"]["emitted"] == 1


@pytest.mark.parametrize("target", ["/etc", "..", "../specdec", "./specdec", "specdec/distill", "C:\\models", "a/b/c", "", 7])
def test_a_path_is_never_taken_for_a_model(client: Client, target: object) -> None:
    with pytest.raises(AppError, match="target must be a Hub id"):
        decode(client, pair="custom", target=target, draft="a/b")


@pytest.mark.parametrize("prompt", ["<script>alert(1)</script> ${x} {{x}} `\\", "   ", "\n", "日本語 🙂"])
def test_hostile_and_strange_prompts_run_as_they_are(client: Client, prompt: str) -> None:
    assert decode(client, prompt, chat=False, max_new_tokens=2)["prompt"]["text"] == prompt
