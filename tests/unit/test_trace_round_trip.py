"""What the engine can run can be saved and opened again: every rule and drafter, at the longest too."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from specdec.models.pairs import MAX_PROMPT_CHARACTERS
from specdec.models.table import TableModel
from specdec.recording import decode, stream
from specdec.settings import (
    DRAFTERS,
    MAX_GAMMA,
    MAX_NEW_TOKENS,
    MISREPORTING_RULES,
    POLICIES,
    RULES,
    BadInput,
    Settings,
)
from specdec.trace.trace import MAX_JSON_BYTES, Trace
from visualizations.demo import launch_options
from visualizations.step_through.examples import examples, recorded_trace

SIZES = (2, 4, 40)


def random_table(size: int, chance: random.Random) -> torch.Tensor:
    """Laws that are flat, steep, full of ties, certain, or with ids that never come."""
    generator = torch.Generator().manual_seed(chance.randrange(10**6))
    noise = torch.rand(size, size, generator=generator, dtype=torch.float64)
    kinds = {
        "flat": noise + 0.5,
        "steep": noise**20 + 1e-9,
        "ties": (3 * noise).round() + 1e-12,
        "certain": torch.eye(size, dtype=torch.float64).roll(1, dims=1),
        "holes": noise * (noise > 0.5) + torch.eye(size) * 1e-3,
    }
    return kinds[chance.choice(list(kinds))]


def random_settings(rule: str, chance: random.Random) -> Settings:
    return Settings.checked(
        rule=rule,
        drafter="model" if rule in MISREPORTING_RULES else chance.choice(DRAFTERS),
        policy=chance.choice(POLICIES),
        confidence_threshold=chance.choice([0.4, 0.9]),
        entropy_threshold=chance.choice([0.0, 0.6]),
        draft_cost=chance.choice([0.0, 0.07, 1.0]),
        lookup_match=chance.choice([1, 2]),
        gamma=chance.randrange(6),
        temperature=chance.choice([0, 0.001, 0.7, 1, 2]),
        draft_temperature=chance.choice([None, None, 0, 1.5]),
        top_k=chance.choice([0, 0, 1, 3, 10]),
        top_p=chance.choice([1, 1, 0.9, 0.4, 1e-8]),
        max_new_tokens=chance.choice([1, 2, 12]),
        stop_strings=chance.choice([[], [], ["t1"], ["1t", "0"]]),
        seed=chance.randrange(10**6),
        chat=False,
        lenience=chance.choice([0.7, 1e-6, 1]),
        target_weight=chance.choice([0.5, 1e-9, 1]),
        typical_epsilon=chance.choice([0.09, 1e-30]),
        typical_delta=chance.choice([0.3, 1e-30]),
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rule", RULES)
def test_every_state_of_a_run_under_any_settings_opens_as_it_was(pair_of, rule, seed):
    chance = random.Random(f"{rule} {seed}")
    for _ in range(8):
        size = chance.choice(SIZES)
        tables = [random_table(size, chance) for _ in range(2)]
        target, draft = (TableModel(table, max_length=chance.choice([9, 12, 1000])) for table in tables)
        pair = pair_of(target, draft, eos_ids=chance.sample(range(size), chance.choice([0, 1, 1])))
        for trace in stream(pair, "t0 t1 t0", random_settings(rule, chance)):
            assert Trace.from_json(trace.to_json()) == trace


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("settings", [{}, {"top_k": 5}, {"top_p": 0.7}, {"temperature": 0.0}], ids=str)
def test_a_run_of_networks_opens_as_it_was(llama_pair, rule, settings):
    trace = decode(llama_pair(0, 1, eos_ids=[7]), "t0 t1", chat=False, rule=rule, max_new_tokens=24, **settings)
    assert Trace.from_json(trace.to_json()) == trace


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.key)
def test_a_recorded_run_opens_and_saves_as_the_file_it_came_from(example):
    assert recorded_trace(example).to_json() == Path(example.recording).read_text("utf-8").strip()


@pytest.mark.parametrize("limits", ["known", "not told"])
@pytest.mark.parametrize("drafter", ["model", "prompt_lookup"])
def test_a_file_of_the_first_schema_opens(table_pair, limits, drafter):
    """Which didn't tell of a round's drafting, nor, at first, of what limits the run."""
    trace = decode(table_pair([0.4, 0.6], [0.6, 0.4], eos_ids=[0]), "t0", chat=False, drafter=drafter)
    document = trace.to_dict() | {"schema": "specdec-trace/1"}
    if limits == "not told":
        del document["limits"]
    for round_ in document["rounds"]:
        del round_["limit"], round_["stopped"]
        for position in round_["positions"]:
            position.pop("drafted_by", None)
    for name in ("policy", "confidence_threshold", "entropy_threshold", "draft_cost", "token_cost", "lookup_match"):
        del document["settings"][name]
    opened = Trace.from_json(json.dumps(document))
    assert opened.output == trace.output and opened.to_dict()["rounds"] == document["rounds"]


@pytest.mark.parametrize(
    "change",
    [
        lambda trace: {"schema": "specdec-trace/1"},
        lambda trace: {"limits": None},
        lambda trace: {"rounds": [round_ | {"limit": None} for round_ in trace["rounds"]]},
        lambda trace: {"rounds": [round_ | {"stopped": None} for round_ in trace["rounds"]]},
    ],
    ids=["first schema", "limits", "limit", "stopped"],
)
def test_a_file_tells_of_its_drafting_what_its_schema_has(table_pair, change):
    trace = decode(table_pair([0.4, 0.6], [0.6, 0.4]), "t0", chat=False).to_dict()
    with pytest.raises(BadInput):
        Trace.from_json(json.dumps(trace | change(trace)))


def test_the_longest_run_can_be_opened_and_leaves_room_for_the_longest_prompt(pair_of, byte_tokenizer):
    """Every round one token and sixteen drafts for nothing, each token of 256 bytes in 87 characters; and a tenth of
    the longest prompt, four tokens a character."""
    laws = torch.rand(2, 40, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.1
    laws[0, 20:], laws[1, :20] = 1e-7, 1e-7
    words = [f"{index:02d}" + "\u65e5" * 84 + "\u00e9" for index in range(40)]
    pair = pair_of(*map(TableModel, laws), words=words)
    run = decode(pair, words[0], chat=False, gamma=MAX_GAMMA, max_new_tokens=MAX_NEW_TOKENS, rule="block")
    assert len(run.output.ids) == MAX_NEW_TOKENS and len(run.positions) > 15 * MAX_NEW_TOKENS
    text = run.to_json()
    assert Trace.from_json(text) == run and 3 * len(text) < 2 * len(text.encode())

    pair = replace(pair_of(TableModel([1.0] * 256)), tokenizer=byte_tokenizer())
    read = decode(pair, "\U0001f984" * (MAX_PROMPT_CHARACTERS // 10), chat=False, gamma=0, max_new_tokens=1)
    assert len(read.prompt.ids) == 4 * MAX_PROMPT_CHARACTERS // 10
    assert Trace.from_json(read.to_json()) == read
    assert len(text.encode()) + 10 * len(read.to_json().encode()) < MAX_JSON_BYTES


def test_the_page_takes_files_as_large_as_a_trace_may_be():
    assert launch_options()["max_file_size"] == MAX_JSON_BYTES
