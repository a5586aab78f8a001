"""The record of a run: its metrics, its strict JSON, and the refusal of everything that is not one."""

from __future__ import annotations

import copy
import json
import math
import subprocess
import sys
from contextlib import closing

import pytest

from specdec.recording import decode, steps
from specdec.settings import BadInput
from specdec.trace.record import Round, metrics_of
from specdec.trace.trace import MAX_JSON_BYTES, SCHEMA, Trace


@pytest.fixture(scope="module")
def trace(table_pair) -> Trace:
    """Two-token filters leave impossible tokens, so that zeros and rejections are in it."""
    pair = table_pair([0.4, 0.3, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2])
    return decode(pair, "t0 t1", chat=False, gamma=3, top_k=2, seed=3, max_new_tokens=12)


def strict(text: str) -> dict:
    def refuse(word: str):
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def rounds_of(drafted: list[int], tested: list[int], accepted: list[int], emitted: list[int]) -> list[Round]:
    return [
        Round(
            drafted=d, tested=t, accepted=a, emitted=e, started=0.0,
            draft_seconds=0.25, verify_seconds=0.5, seconds=1.0, positions=(),
        )
        for d, t, a, e in zip(drafted, tested, accepted, emitted)
    ]  # fmt: skip


def test_each_rate_has_its_own_definition():
    metrics = metrics_of(rounds_of([4, 4, 4, 2], [4, 2, 1, 2], [4, 1, 0, 2], [5, 2, 1, 3]), 1.5)
    assert (metrics.rounds, metrics.drafted, metrics.tested, metrics.accepted, metrics.emitted) == (4, 14, 9, 7, 11)
    assert metrics.accepted_per_drafted == 0.5
    assert metrics.acceptance_rate == pytest.approx(7 / 9)
    assert metrics.accepted_per_round == 1.75
    assert metrics.tokens_per_round == 2.75
    assert metrics.tested_by_place == (4, 3, 1, 1) and metrics.accepted_by_place == (3, 2, 1, 1)


def test_rates_are_pooled_over_rounds_not_averaged():
    """30 rounds of 3 tokens and 4 rounds of 1: 94/34, not the mean of the rounds' groups, 2.0."""
    rounds = rounds_of([2] * 30 + [0] * 4, [2] * 30 + [0] * 4, [2] * 30 + [0] * 4, [3] * 30 + [1] * 4)
    assert metrics_of(rounds, 0.0).tokens_per_round == pytest.approx(94 / 34)


def test_rounds_without_drafts_do_not_lower_the_acceptance_rate():
    metrics = metrics_of(rounds_of([0, 4], [0, 4], [0, 4], [1, 5]), 0.0)
    assert metrics.acceptance_rate == 1.0 and metrics.tokens_per_round == 3.0


def test_rates_over_nothing_are_not_zero_but_absent():
    undrafted = metrics_of(rounds_of([0, 0], [0, 0], [0, 0], [1, 1]), 0.0)
    assert undrafted.acceptance_rate is None and undrafted.accepted_per_drafted is None
    assert undrafted.mean_overlap is None and undrafted.tokens_per_round == 1
    nothing = metrics_of([], 0.0)
    assert nothing.tokens_per_round is None and nothing.tokens_per_second is None


def test_speed_with_and_without_the_prompt_are_two_numbers():
    metrics = metrics_of(rounds_of([1] * 100, [1] * 100, [0] * 100, [1] * 100), 25.0)
    assert metrics.tokens_per_second == 1.0 and metrics.tokens_per_second_with_prefill == 0.8
    assert (metrics.draft_seconds, metrics.verify_seconds, metrics.decode_seconds) == (25, 50, 100)


def test_json_is_strict_and_reads_back_as_the_same_trace(trace):
    text = trace.to_json()
    assert strict(text) == trace.to_dict()
    assert Trace.from_json(text) == trace and Trace.from_json(text.encode()) == trace
    assert Trace.from_json(text).to_json() == text


def test_impossible_tokens_are_zeros_in_json_not_minus_infinity(trace):
    positions = [p for p in trace.positions if p.draft_id is not None and p.p == 0]
    assert positions and all(p.accept_probability == 0 for p in positions)
    assert not any(word in trace.to_json() for word in ("Infinity", "NaN"))


FOREIGN = {
    "nothing": "",
    "no JSON": "hello",
    "half a file": '{"schema":"specdec-trace/2","created"',
    "another document": "[1, 2, 3]",
    "null": "null",
    "another schema": '{"schema":"specdec-trace/99"}',
    "another tool's": '{"model":"gpt2","tokens":[]}',
    "deep nesting": "[" * 100_000,
    "NaN": "NaN",
    "broken text": b"\xff\xfe\x00",
    "half a character": "\ud800",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
}


def assert_refused(text: str | bytes, *parts: str) -> None:
    with pytest.raises(BadInput) as refusal:
        Trace.from_json(text)
    message = str(refusal.value)
    assert "\n" not in message and len(message) < 400 and message.endswith(".")
    assert all(part in message for part in parts)


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_is_refused_in_one_sentence(text):
    assert_refused(text, SCHEMA)


def test_a_huge_file_is_refused_before_it_is_read():
    assert_refused(b" " * (MAX_JSON_BYTES + 1), f"{MAX_JSON_BYTES + 1:,}", f"{MAX_JSON_BYTES:,}.")


def test_the_limit_counts_bytes_whether_a_text_or_its_bytes_are_given():
    text = "\u00e9" * (MAX_JSON_BYTES // 2 + 1)
    assert_refused(text, f"{MAX_JSON_BYTES + 2:,} bytes")
    assert_refused(text.encode(), f"{MAX_JSON_BYTES + 2:,} bytes")


@pytest.mark.parametrize("data", [None, 7, ["{}"], {"schema": "specdec-trace/2"}], ids=str)
def test_what_is_no_file_is_refused(data):
    assert_refused(data, SCHEMA)


RUBBISH = """
import resource, sys
from specdec.settings import BadInput
from specdec.trace.trace import SCHEMA, Trace

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

size = 6_000_000
files = [
    b'{"rounds":[' + b"{}," * (size // 3) + b"{}]}",
    b'{"schema":[' + b"1," * (size // 2) + b"1]}",
    b'{"prompt":{"text":"","tokens":[],"ids":[' + b"1," * (size // 2) + b"1]}}",
    b"[" + b"[]," * (size // 3) + b"[]]",
    b"{" + b"".join(b'"%d":1,' % i for i in range(size // 10)) + b'"a":1}',
]
before = peak()
for data in files:
    try:
        Trace.from_json(data)
    except BadInput:
        continue
    raise SystemExit("opened")
print((peak() - before) / size)
"""


def test_megabytes_of_rubbish_cost_neither_minutes_nor_gigabytes():
    done = subprocess.run([sys.executable, "-c", RUBBISH], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 50  # bytes of memory for a byte of file


def changed(trace: Trace, path: list, value: object) -> str:
    document = copy.deepcopy(trace.to_dict())
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(document)


FIRST = ["rounds", 0, "positions", 0]
TAMPERED = [
    (["unknown"], 1),
    (["settings", "gamma"], 3.5),
    (["settings", "gamma"], 10**6),
    (["settings", "gama"], 3),
    (["settings"], None),
    (["rounds"], {}),
    (["rounds", 0], []),
    (["prompt", "ids"], 3),
    (["settings", "rule"], "lossless"),
    (["settings", "temperature"], -1),
    (["settings", "temperature"], 1e999),
    (["seed"], "7"),
    (["seed"], 8),
    (["output", "ids"], [0]),
    (["output", "text"], "<script>alert(1)</script>"),
    (["output", "stop_reason"], "tired"),
    (["prompt", "tokens"], []),
    (["metrics", "acceptance_rate"], 0.99),
    (["metrics", "emitted"], 10**400),
    ([*FIRST, "kind"], "guessed"),
    ([*FIRST, "kind"], "discarded"),
    ([*FIRST, "p"], float("nan")),
    ([*FIRST, "p"], 1e308),
    ([*FIRST, "overlap"], 0.123),
    ([*FIRST, "residual_mass"], 0.123),
    ([*FIRST, "accept_probability"], 7.0),
    ([*FIRST, "accept_probability"], -0.5),
    ([*FIRST, "coin"], 1.5),
    ([*FIRST, "candidates", 0, "p"], 0.9),
    ([*FIRST, "candidates", 0, "q"], 0.9),
    ([*FIRST, "candidates"], []),
    ([*FIRST, "other", "p"], -1.0),
    ([*FIRST, "token_id"], True),
    ([*FIRST, "token_id"], 3.0),
    ([*FIRST, "output_index"], 99),
    ([*FIRST, "target_entropy"], -1e6),
    ([*FIRST, "draft_entropy"], None),
    ([*FIRST, "draft_id"], 1),
    ([*FIRST, "draft_id"], 3),
    ([*FIRST, "candidates", 0, "id"], 77),
    ([*FIRST, "candidates", 0, "q"], None),
    ([*FIRST, "other", "overlap"], None),
    (["rounds", 0, "drafted"], 2**62),
    (["rounds", 0, "tested"], 2**62),
    (["rounds", 0, "accepted"], -1),
    (["rounds", 0, "emitted"], 10**400),
    (["rounds", 0, "seconds"], -1.0),
]


@pytest.mark.parametrize(("path", "value"), TAMPERED, ids=lambda part: ascii(part)[:40])
def test_a_tampered_trace_is_refused_in_one_sentence(trace, path, value):
    assert_refused(changed(trace, path, value))


@pytest.mark.parametrize("field", ["drafted", "tested", "accepted", "emitted"])
def test_counts_that_are_not_those_of_the_positions_are_refused_even_with_metrics_to_match(trace, field):
    """Metrics over a count of ten thousand million places would also never end."""
    document = copy.deepcopy(trace.to_dict())
    document["rounds"][0][field] = 10**10
    document["metrics"][field] = sum(round_[field] for round_ in document["rounds"])
    assert_refused(json.dumps(document))


def test_each_identity_is_told_apart_from_rounding(trace):
    position = trace.to_dict()["rounds"][0]["positions"][0]
    assert Trace.from_json(changed(trace, [*FIRST, "residual_mass"], position["residual_mass"] + 4e-6))
    assert_refused(changed(trace, [*FIRST, "residual_mass"], position["residual_mass"] + 4e-5), "residual_mass")


def test_a_trace_of_a_run_that_was_cancelled_at_once_is_still_a_trace(table_pair):
    with closing(steps(table_pair([1, 1], [1, 1]), "t0", chat=False)) as parts:
        empty = next(parts)
    assert Trace.from_json(empty.to_json()) == empty
    assert empty.output.stop_reason == "cancelled" and not math.isnan(empty.metrics.prefill_seconds)
