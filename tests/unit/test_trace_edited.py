"""A saved trace that was edited contradicts itself somewhere, and is refused in one sentence."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from specdec.recording import decode
from specdec.settings import RULES, BadInput
from specdec.trace.trace import Trace
from visualizations.step_through.examples import examples, recorded_trace

TABLES = ([0.35, 0.1, 0.15, 0.3, 0.1], [0.15, 0.35, 0.2, 0.1, 0.2])  # more of p at 0 and 3
RUNS: dict[str, dict[str, Any]] = {
    **{rule: {"rule": rule} for rule in RULES},
    "raw draft, top-k": {"rule": "raw_draft", "top_k": 3, "draft_temperature": 2.0},
    "top-p": {"top_p": 0.8},
    "greedy": {"temperature": 0.0},
    "greedy draft": {"draft_temperature": 0.0},
    "prompt lookup": {"drafter": "prompt_lookup"},
    "lookup then model": {"drafter": "lookup_then_model"},
    "heuristic": {"policy": "heuristic", "gamma": 8},
    "confidence": {"policy": "confidence", "confidence_threshold": 0.2},
    "entropy": {"policy": "entropy", "entropy_threshold": 1.54},
    "expected": {"policy": "expected"},
    "plain": {"gamma": 0},
    "stopped": {"stop_strings": ["t4"]},
    "block, stopped": {"rule": "block", "stop_strings": ["t4"]},
}  # fmt: skip
# What nothing else in a trace tells: names, looks, the clock's readings where they don't run backwards.
FREE = {"name", "target", "draft", "device", "dtype", "text", "special", "bytes", "created"}

Path = tuple[str | int, ...]


@pytest.fixture(scope="module")
def document(table_pair) -> Callable[..., dict]:
    """document(run, **settings): the JSON of one of `RUNS`."""

    def made(run: str, **values: Any) -> dict:
        settings = {"gamma": 3, "max_new_tokens": 16, "seed": 5, "chat": False} | RUNS[run] | values
        return decode(table_pair(*TABLES), "t0 t1 t0", **settings).to_dict()

    return made


def edited(document: dict, path: Path, value: Any) -> str:
    changed = copy.deepcopy(document)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(changed)


def leaves(part: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(part, (dict, list)):
        for step, inner in part.items() if isinstance(part, dict) else enumerate(part):
            yield from leaves(inner, (*path, step))
    else:
        yield path, part


def refusal(text: str) -> str:
    """The sentence, '' when the trace opens."""
    try:
        Trace.from_json(text)
    except BadInput as error:
        sentence = str(error)
        assert "\n" not in sentence and len(sentence) < 400 and sentence.endswith(".")
        return sentence
    return ""


def wrong_values(path: Path, value: Any) -> list[Any]:
    """Values that can't stand at a place of rounds, output, metrics, prompt or limits, whatever the rule."""
    name = next(step for step in reversed(path) if isinstance(step, str))
    if name in FREE and path[0] != "output":
        return [3]
    if name == "kind":
        return sorted({"accepted", "replaced", "bonus", "plain", "discarded"} - {value})
    if name in ("stopped", "drafted_by"):
        return [*sorted({"limit", "confidence", "entropy", "eos", "budget", "room", "peek", "model", "copy"} - {value})]
    if name in ("text", "stop_reason"):
        return [*sorted({"eos", "stop_string", "length", "context_full", "cancelled"} - {value}), "more"]
    if value is None:
        return [] if name == "draft_uniform" and path[0] != "rounds" else [0.5]
    if name in ("draft_uniform", "token_uniform", "coin"):
        return [None, 0.0, 1.0, 7.0, -3.0]
    if name in ("started", "prefill_seconds", "target_length", "draft_length"):
        return [None, -7]
    if name in ("ids", "id", "eos_ids", "vocab_size"):
        return [None, -5, 2**70]
    if isinstance(value, int):
        return [None, value + 1, -5, 2**70]
    return [None, value + 0.25, -0.5, 7.0]


@pytest.mark.parametrize(
    "run",
    ["token", "match", "block", "typical", "raw draft, top-k", "prompt lookup", "plain", "stopped", "peeking"]
    + ["argmax_draft", "lookup then model", "confidence", "entropy"],
)
def test_no_part_of_a_trace_can_be_changed_alone(document, run):
    """Every part gets one of the values that can't be, the next of its kind the next."""
    whole = document(run, max_new_tokens=7)
    assert not refusal(json.dumps(whole))
    opened = []
    for turn, (path, old) in enumerate(leaves(whole)):
        values = [] if path[0] in ("settings", "schema", "seed") else wrong_values(path, old)
        if run in ("raw draft, top-k", "argmax_draft") and path[-1] == "accept_probability" and old is not None:
            values = [None, -0.5, 7.0]  # the trace doesn't have the law that the rule was told
        if values and not refusal(edited(whole, path, values[turn % len(values)])):
            opened.append((path, old, values[turn % len(values)]))
    assert opened == []


def drafts_of(whole: dict) -> Iterator[tuple[Path, dict]]:
    for r, round_ in enumerate(whole["rounds"]):
        for i, position in enumerate(round_["positions"]):
            if position["draft_id"] is not None:
                yield ("rounds", r, "positions", i), position


@pytest.mark.parametrize("run", [run for run in RUNS if run not in ("plain", "block", "block, stopped")])
def test_every_coin_decides_as_its_accept_probability_says(document, run):
    whole = document(run)
    edits = 0
    for path, draft in drafts_of(whole):
        accept = draft["accept_probability"]
        wrong = {
            "discarded": [0.5],
            "accepted": [None, (1 + accept) / 2, accept * (1 + 1e-6)] if accept < 0.99 else [None],
            "replaced": [None, accept / 2, accept * (1 - 1e-6)] if accept else [None],
        }
        for coin in wrong[draft["kind"]]:
            assert "coins" in refusal(edited(whole, (*path, "coin"), coin))
            edits += 1
    assert edits


def test_a_block_keeps_its_drafts_up_to_the_last_that_passes(document):
    whole = document("block")
    kept = edits = 0
    for r, round_ in enumerate(whole["rounds"]):
        drafts = [position for position in round_["positions"] if position["draft_id"] is not None]
        for i, draft in enumerate(drafts):
            accept, last = draft["accept_probability"], i == round_["accepted"] - 1
            path = ("rounds", r, "positions", i, "coin")
            if i >= round_["accepted"] and accept > 0:
                assert "coins" in refusal(edited(whole, path, accept / 2))
                edits += 1
            elif last and accept < 1:
                assert "coins" in refusal(edited(whole, path, (1 + accept) / 2))
                edits += 1
            elif not last and 0 < accept < 1:  # those before it pass or don't
                assert not any(refusal(edited(whole, path, coin)) for coin in (accept / 2, (1 + accept) / 2))
                kept += 1
    assert kept and edits


@pytest.mark.parametrize("run", [run for run in RUNS if run not in ("plain", "raw draft, top-k", "argmax_draft")])
def test_an_accept_probability_is_the_one_that_its_rule_gives(document, run):
    """A block's follow from the whole law at the next place, of which a discarded draft tells little."""
    whole = document(run)
    for path, draft in drafts_of(whole):
        accept, behind = draft["accept_probability"], whole["rounds"][path[1]]["positions"][path[3] + 1 :]
        untold = "block" in run and behind and behind[0]["kind"] == "discarded"
        for other in () if untold else (accept + 1e-3, accept - 1e-3):
            sentence = refusal(edited(whole, (*path, "accept_probability"), other))
            assert "accept_probability" in sentence or not 0 <= other <= 1


def test_the_likeliest_draft_is_accepted_at_least_as_often_as_if_it_had_been_certain(document):
    whole = document("argmax_draft")
    for path, draft in drafts_of(whole):
        assert "accept_probability" in refusal(edited(whole, (*path, "accept_probability"), draft["p"] - 0.01))


def test_without_the_filters_a_draft_was_less_likely_so_a_raw_draft_is_accepted_more_often(document):
    whole = document("raw draft, top-k")
    for path, draft in drafts_of(whole):
        least = min(1, draft["p"] / draft["q"])
        if least > 0.01:
            assert "accept_probability" in refusal(edited(whole, (*path, "accept_probability"), least - 0.01))


@pytest.mark.parametrize("run", [*(rule for rule in RULES if rule not in ("block", "argmax_draft")), "plain"])
def test_tokens_stand_where_their_uniforms_fall(document, run):
    """0.0001 and 0.9999 draw the first and the last id of a law, here always two; a token is one of them at most."""
    whole = document(run)
    edits = 0
    for r, round_ in enumerate(whole["rounds"]):
        for i, position in enumerate(round_["positions"]):
            for name in ("draft_uniform", "token_uniform"):
                if position[name] is not None:
                    path = ("rounds", r, "positions", i, name)
                    assert any("uniform" in refusal(edited(whole, path, end)) for end in (1e-4, 1 - 1e-4))
                    edits += 1
    assert edits > 10


@pytest.mark.parametrize("run", ["block", "block, stopped"])
def test_a_replacement_in_a_block_is_drawn_from_what_the_drafts_before_it_left(document, run):
    """At the first place of a round the whole residual is left, ids 0 and 3."""
    whole = document(run)
    first = [(r, round_["positions"][0]) for r, round_ in enumerate(whole["rounds"])]
    replaced = [(r, position) for r, position in first if position["kind"] == "replaced"]
    assert replaced
    for r, position in replaced:
        end = 1e-4 if position["token_id"] == 3 else 1 - 1e-4
        assert "uniform" in refusal(edited(whole, ("rounds", r, "positions", 0, "token_uniform"), end))


@pytest.mark.parametrize("run", [*RULES, "top-p", "greedy draft"])
def test_a_run_is_not_one_of_another_rule(document, run):
    """But for rules that are the same here: a raw draft without filters; a match where the draft was certain."""
    whole = document(run)
    ran = whole["settings"]["rule"]
    opened = {rule for rule in RULES if rule != ran and not refusal(edited(whole, ("settings", "rule"), rule))}
    twins = {"raw_draft": {"token"}, "greedy draft": {"raw_draft", "argmax_draft", "match"}}
    assert opened <= twins.get(run, {"raw_draft"} if ran == "token" else set())


@pytest.mark.parametrize(
    ("run", "field", "values"),
    [
        ("token", "temperature", [0]),
        ("token", "draft_temperature", [0]),
        ("token", "gamma", [0, 1, 2, 4, 16]),
        ("token", "top_k", [1, 2, 4]),
        ("token", "top_p", [0.5, 0.85, 1e-8]),
        ("token", "drafter", ["prompt_lookup"]),
        ("token", "max_new_tokens", [1, 15, 17, 512]),
        ("token", "stop_strings", [["t"], ["t2"]]),
        ("greedy", "gamma", [0, 2, 4]),
        ("greedy draft", "gamma", [0, 2, 4]),
        ("prompt lookup", "drafter", ["model"]),
        ("prompt lookup", "gamma", [0, 1, 2]),
        ("plain", "gamma", [1, 4]),
        ("stopped", "stop_strings", [[], ["t5"], ["t"]]),
        ("lenient", "lenience", [0.5, 1]),
        ("ensemble", "target_weight", [0.4, 1]),
        ("typical", "typical_epsilon", [1.0, 0.2]),
    ],
)  # fmt: skip
def test_settings_that_the_run_contradicts_are_refused(document, run, field, values):
    whole = document(run)
    if field == "typical_epsilon":  # together: the threshold is the lesser of two
        whole["settings"]["typical_delta"] = 1.0
    opened = [value for value in values if not refusal(edited(whole, ("settings", field), value))]
    assert opened == []


@pytest.fixture(scope="module")
def endings(table_pair) -> dict[str, dict]:
    """One run for each way to end; a chain of eight words, drafted by itself."""
    chain = torch.eye(8).roll(1, dims=1)

    def run(max_length: int = 1000, **values: Any) -> dict:
        from specdec.models.table import TableModel

        eos_ids = values.pop("eos_ids", ())
        pair = table_pair(chain, chain, eos_ids=eos_ids)
        object.__setattr__(pair, "target", TableModel(chain, max_length))
        settings = {"gamma": 4, "max_new_tokens": 7, "chat": False} | values
        return decode(pair, "t0", **settings).to_dict()

    return {
        "length": run(),
        "eos": run(eos_ids=[3]),
        "stop_string": run(stop_strings=["t3"]),
        "context_full": run(max_length=5),
    }


@pytest.mark.parametrize("reason", ["length", "eos", "stop_string", "context_full"])
def test_a_run_has_one_reason_to_end(endings, reason):
    whole = endings[reason]
    assert whole["output"]["stop_reason"] == reason and not refusal(json.dumps(whole))
    for other in ("length", "eos", "stop_string", "context_full", "cancelled"):
        assert other == reason or "stop_reason" in refusal(edited(whole, ("output", "stop_reason"), other))


@pytest.mark.parametrize(
    ("reason", "field", "value"),
    [
        ("length", "eos_ids", [2]),
        ("length", "eos_ids", [7]),
        ("eos", "eos_ids", []),
        ("eos", "eos_ids", [-3]),
        ("context_full", "target_length", 6),
        ("length", "target_length", 5),
        ("length", "draft_length", 3),
        ("length", "draft_length", None),
    ],
)
def test_limits_that_the_run_contradicts_are_refused(endings, reason, field, value):
    assert refusal(edited(endings[reason], ("limits", field), value))


@pytest.mark.parametrize("when", ["yesterday", "", "2026-01-01T00:00:00", "2026-01-01T00:00:00+05:00"])
def test_a_trace_was_created_at_a_time_in_utc(document, when):
    assert "created" in refusal(edited(document("token"), ("created",), when))


@pytest.mark.parametrize("size", [-3, 0, 1, 2**70])
def test_a_vocabulary_holds_every_id(document, size):
    assert refusal(edited(document("token"), ("pair", "vocab_size"), size))


def test_rounds_follow_each_other_in_time(document):
    whole = document("token")
    for index, started in [(0, -7.0), (0, 1.0), (1, 0.0)]:
        assert "times" in refusal(edited(whole, ("rounds", index, "started"), started))
    longer = copy.deepcopy(whole)
    longer["rounds"][0]["draft_seconds"] += 60
    longer["metrics"]["draft_seconds"] = sum(round_["draft_seconds"] for round_ in longer["rounds"])
    assert "times" in refusal(json.dumps(longer))


@pytest.mark.parametrize("key", ["story", "translation"])
def test_a_recorded_run_of_a_real_pair_fits_its_own_settings_only(key):
    whole = recorded_trace(next(example for example in examples() if example.key == key)).to_dict()
    settings, reason = whole["settings"], whole["output"]["stop_reason"]
    edits = {
        "gamma": {0, 3, 5, 16} - {settings["gamma"]},
        "rule": {"match", "typical", "lenient", "ensemble"} if settings["temperature"] else set(),
        "temperature": {0} - {settings["temperature"]},
        "drafter": {"prompt_lookup"},
        "max_new_tokens": {len(whole["output"]["ids"]) - 1},
    }
    opened = [(f, v) for f, values in edits.items() for v in values if not refusal(edited(whole, ("settings", f), v))]
    ends = {"eos", "stop_string", "length", "context_full", "cancelled"} - {reason}
    assert opened + [end for end in ends if not refusal(edited(whole, ("output", "stop_reason"), end))] == []
