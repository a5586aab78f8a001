"""A trace is enough by itself: every number on screen can be checked from its JSON alone."""

from __future__ import annotations

import json
import math

import pytest
import torch

from specdec.decoding.probabilities import draw
from specdec.recording import decode, stream
from specdec.settings import EXACT_RULES, BadInput, Settings
from specdec.trace.trace import Trace

TOLERANCE = 1e-5
TABLES = ([0.4, 0.3, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2])
RUNS = {
    "plain sampling": {},
    "top-k": {"top_k": 2},
    "top-p": {"top_p": 0.6},
    "greedy": {"temperature": 0.0},
    "greedy draft": {"draft_temperature": 0.0},
    "prompt lookup": {"drafter": "prompt_lookup"},
    "plain decoding": {"gamma": 0},
}


def documents(pair, prompt: str = "t0 t1 t0", **settings) -> list[dict]:
    """The JSON of a few seeds, read with nothing but json."""
    settings = {"max_new_tokens": 20, "gamma": 3, "chat": False} | settings
    return [json.loads(decode(pair, prompt, seed=seed, **settings).to_json()) for seed in range(3)]


def positions(document: dict) -> list[dict]:
    return [position for round_ in document["rounds"] for position in round_["positions"]]


@pytest.fixture(params=["tables", "models"])
def pair(request, table_pair, llama_pair):
    return table_pair(*TABLES) if request.param == "tables" else llama_pair(0, 1)


@pytest.mark.parametrize("rule", EXACT_RULES)
@pytest.mark.parametrize("run", RUNS)
def test_every_sum_of_every_position_holds_in_the_json(pair, run, rule):
    for document in documents(pair, rule=rule, **RUNS[run]):
        for position in positions(document):
            shown, other = position["candidates"], position["other"]
            p = [candidate["p"] for candidate in shown]
            assert abs(sum(p) + other["p"] - 1) < TOLERANCE
            if position["draft_id"] is None:
                assert position["q"] is position["overlap"] is position["coin"] is other["q"] is None
                continue
            q = [candidate["q"] for candidate in shown]
            overlap = [min(a, b) for a, b in zip(p, q)]
            residual = [max(0, a - b) for a, b in zip(p, q)]
            assert abs(sum(q) + other["q"] - 1) < TOLERANCE
            assert abs(sum(overlap) + other["overlap"] - position["overlap"]) < TOLERANCE
            assert abs(sum(residual) + other["residual"] - position["residual_mass"]) < TOLERANCE
            assert abs(position["overlap"] + position["residual_mass"] - 1) < TOLERANCE
            assert abs(other["overlap"] + other["residual"] - other["p"]) < TOLERANCE


@pytest.mark.parametrize("run", ["plain sampling", "top-k", "greedy draft", "prompt lookup"])
def test_the_accept_probability_follows_from_the_p_and_q_beside_it_and_the_coin_decides(pair, run):
    for document in documents(pair, **RUNS[run]):
        for position in positions(document):
            if position["draft_id"] is None:
                continue
            p, q, accept = position["p"], position["q"], position["accept_probability"]
            assert q > 0 and accept == pytest.approx(min(1, p / q), abs=1e-6)
            drafted = next(c for c in position["candidates"] if c["id"] == position["draft_id"])
            assert (drafted["p"], drafted["q"]) == pytest.approx((p, q), abs=1e-6)
            if position["kind"] == "discarded":
                assert position["coin"] is None
            else:
                assert (position["kind"] == "accepted") == (position["coin"] < accept)


@pytest.mark.parametrize("run", ["plain sampling", "top-k", "greedy draft", "plain decoding"])
def test_every_token_can_be_drawn_again_from_its_uniform(table_pair, run):
    """All four ids of the tables are candidates (of what was not discarded): the laws stand in the trace."""
    for document in documents(table_pair(*TABLES), **RUNS[run]):
        for position in positions(document):
            if position["kind"] == "discarded":
                continue
            laws = torch.zeros(2, 4, dtype=torch.float64)
            for candidate in position["candidates"]:
                laws[0, candidate["id"]], laws[1, candidate["id"]] = candidate["p"], candidate["q"] or 0
            p, q = laws
            if position["draft_uniform"] is not None:
                assert int(draw(q, position["draft_uniform"])) == position["draft_id"]
            if position["token_uniform"] is not None:
                law = (p - q).clamp_min(0) if position["kind"] == "replaced" else p
                assert int(draw(law, position["token_uniform"])) == position["token_id"]


@pytest.mark.parametrize("run", RUNS)
def test_counts_kinds_and_indexes_agree(pair, run):
    for document in documents(pair, **RUNS[run]):
        output, index = document["output"], 0
        for round_ in document["rounds"]:
            kinds = [position["kind"] for position in round_["positions"]]
            assert kinds.count("accepted") == round_["accepted"] <= round_["tested"] <= round_["drafted"]
            assert len(kinds) - kinds.count("discarded") == round_["emitted"]
            assert [position["output_index"] for position in round_["positions"]] == list(range(index, index + len(kinds)))
            shape = "".join({"accepted": "a", "replaced": "r", "bonus": "b", "plain": "p", "discarded": "d"}[kind] for kind in kinds)
            assert shape.lstrip("a") in ("", "b", "p", "r") or shape.lstrip("a") == "r" + "d" * (len(shape.lstrip("a")) - 1)
            index += round_["emitted"]
        emitted = [position for position in positions(document) if position["kind"] != "discarded"]
        assert [position["token_id"] for position in emitted] == output["ids"] and index == len(output["ids"]) == 20
        assert "".join(position["text"] for position in emitted) == output["text"]


def test_the_residual_of_a_replaced_token_can_be_read_off(table_pair):
    """p = 60/30/10 against q = 10/30/60 leaves the residual 1, 0, 0."""
    document = documents(table_pair([0.6, 0.3, 0.1], [0.1, 0.3, 0.6]), gamma=1)[0]
    replaced = [position for position in positions(document) if position["kind"] == "replaced"]
    assert replaced and all(position["token_id"] == 0 for position in replaced)
    for position in replaced:
        excess = {c["id"]: max(0, c["p"] - c["q"]) for c in position["candidates"]}
        assert excess == pytest.approx({0: 0.5, 1: 0, 2: 0}, abs=1e-6) and position["overlap"] == pytest.approx(0.5)


def test_filters_reach_the_recorded_laws(table_pair):
    document = documents(table_pair(*TABLES), top_k=2)[0]
    for position in positions(document):
        found = {c["id"]: (c["p"], c["q"]) for c in position["candidates"]}
        expected = {0: (4 / 7, 0), 1: (3 / 7, 4 / 7), 2: (0, 3 / 7)}
        assert all(found[i] == pytest.approx((p, q if found[i][1] is not None else None), abs=1e-6) for i, (p, q) in expected.items() if i in found)


def test_entropies_are_those_of_the_laws_in_nats(table_pair):
    position = positions(documents(table_pair([0.5, 0.5, 0, 0], [0.25] * 4))[0])[0]
    assert position["target_entropy"] == pytest.approx(math.log(2), abs=1e-5)
    assert position["draft_entropy"] == pytest.approx(math.log(4), abs=1e-5)


def test_candidates_hold_the_commonest_of_both_laws_the_draft_and_the_token(llama_pair):
    for document in documents(llama_pair(0, 1)):
        for position in positions(document):
            candidates = position["candidates"]
            ids = [candidate["id"] for candidate in candidates]
            assert len(set(ids)) == len(ids) <= 24 and position["token_id"] in ids
            assert position["draft_id"] is None or position["draft_id"] in ids
            heights = [max(c["p"], c["q"] or 0) for c in candidates]
            assert heights == sorted(heights, reverse=True)
            if position["kind"] != "discarded":
                least = sorted((c["p"] for c in candidates), reverse=True)[7]
                assert position["other"]["p"] <= (64 - 8) * least


def test_the_trace_names_the_rule_the_settings_and_the_models_that_ran(table_pair):
    pair = table_pair(*TABLES)
    trace = decode(pair, "t0", chat=False, rule="match", temperature=0.7, draft_temperature=1.5, seed=9)
    document = json.loads(trace.to_json())
    assert document["settings"]["rule"] == "match" and document["seed"] == 9
    assert (document["settings"]["temperature"], document["settings"]["draft_temperature"]) == (0.7, 1.5)
    assert document["pair"] == {"name": "a+b", "target": "a", "draft": "b", "vocab_size": 4}
    assert document["device"] == "cpu" and document["dtype"] == "float32"


@pytest.mark.parametrize("settings", [{"gamma": 0}, {"drafter": "prompt_lookup"}], ids=str)
def test_a_run_without_a_draft_model_names_none(table_pair, settings):
    assert decode(table_pair(*TABLES), "t0", chat=False, **settings).pair.draft is None


def test_a_stop_string_ends_text_ids_and_counts(table_pair):
    """The words are E, N, D and others; the target writes them in order, the draft always agrees."""
    chain = torch.eye(6).roll(1, dims=1)
    pair = table_pair(chain, chain, words=["a", "E", "N", "D!", "b", "c"])
    trace = decode(pair, "a", chat=False, gamma=5, stop_strings=["END"], max_new_tokens=30)
    assert trace.output.stop_reason == "stop_string"
    assert trace.output.text == "END" and trace.output.ids == (1, 2, 3)
    assert trace.metrics.emitted == 3 == trace.metrics.accepted
    assert "".join(p.text for p in trace.positions if p.kind != "discarded") == "END"
    assert Trace.from_json(trace.to_json()) == trace


@pytest.mark.parametrize("gamma", [0, 1, 5])
def test_a_stop_string_is_found_wherever_a_round_ends(table_pair, gamma):
    chain = torch.eye(6).roll(1, dims=1)
    pair = table_pair(chain, chain, words=["a", "b", "c", "E", "N", "D"])
    trace = decode(pair, "a", chat=False, gamma=gamma, stop_strings=["END", "never"], max_new_tokens=30)
    assert (trace.output.text, trace.output.stop_reason) == ("bcEND", "stop_string")


def test_tokens_at_and_behind_an_end_of_text_are_counted_once_and_never(table_pair):
    chain = torch.eye(8).roll(1, dims=1)
    trace = decode(table_pair(chain, chain, eos_ids=[3]), "t0", chat=False, gamma=5)
    assert trace.output.ids == (1, 2, 3) and trace.output.stop_reason == "eos"
    metrics = trace.metrics
    assert (metrics.emitted, metrics.accepted, metrics.tested, metrics.drafted) == (3, 3, 3, 3)


def test_prompt_lookup_without_a_match_is_not_a_rejection(table_pair):
    trace = decode(table_pair(torch.eye(8).roll(1, dims=1)), "t0", chat=False, drafter="prompt_lookup", max_new_tokens=5)
    assert trace.metrics.acceptance_rate is None and trace.metrics.drafted == 0
    assert {position.kind for position in trace.positions} == {"plain"}


def test_a_stream_grows_by_a_round_and_ends_as_the_whole(pair):
    settings = Settings(chat=False, seed=5, max_new_tokens=20)
    traces = list(stream(pair, "t0 t1", settings))
    assert [len(trace.rounds) for trace in traces] == list(range(1, len(traces) + 1))
    assert {trace.output.stop_reason for trace in traces[:-1]} == {"cancelled"}
    whole = decode(pair, "t0 t1", settings)
    assert traces[-1].output == whole.output and traces[-1].output.stop_reason == "length"
    assert all(Trace.from_json(trace.to_json()) == trace for trace in traces)
    assert [t.output.ids for t in traces] == [whole.output.ids[: len(t.output.ids)] for t in traces]


def test_a_bad_setting_is_refused_before_anything_runs(pair):
    before = pair.target.length
    with pytest.raises(BadInput, match="gamma"):
        decode(pair, "t0", chat=False, gamma=3.5)
    assert pair.target.length == before


def test_the_same_call_twice_gives_the_same_trace_but_for_its_times(pair):
    def timeless(document: dict) -> dict:
        rounds = [{k: v for k, v in r.items() if "seconds" not in k and k != "started"} for r in document["rounds"]]
        return {k: document[k] for k in ("settings", "prompt", "output", "pair")} | {"rounds": rounds}

    first, second = (documents(pair)[1] for _ in range(2))
    assert timeless(first) == timeless(second)


def test_times_of_a_run_add_up(llama_pair):
    metrics = decode(llama_pair(0, 1), "t0 t1", chat=False).metrics
    assert 0 < metrics.draft_seconds + metrics.verify_seconds <= metrics.decode_seconds
    assert metrics.tokens_per_second == pytest.approx(metrics.emitted / metrics.decode_seconds)
    assert metrics.tokens_per_second_with_prefill < metrics.tokens_per_second


def test_a_trace_of_a_real_pair_is_small_and_keeps_every_promise(default_pair):
    trace = decode(default_pair, "Explain why the sky is blue.", seed=7, max_new_tokens=32)
    text = trace.to_json()
    assert Trace.from_json(text) == trace
    discarded = sum(position.kind == "discarded" for position in trace.positions)
    assert len(text.encode()) < 1_500 * len(trace.output.ids) + 600 * discarded + 10_000
    assert all("Ġ" not in c.text and "\ufffd" not in c.text for p in trace.positions for c in p.candidates)
