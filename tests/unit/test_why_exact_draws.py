"""The exactness tab's tests on the server: choices are checked, and a real pair is asked at the right place."""

from __future__ import annotations

import json
import threading

import pytest

torch = pytest.importorskip("torch")

from specdec import recording  # noqa: E402
from specdec.decoding.probabilities import overlap, probabilities  # noqa: E402
from specdec.settings import RULES, BadInput, Sampling  # noqa: E402
from visualizations.why_exact.bars import checked_bars, preset_value  # noqa: E402
from visualizations.why_exact.draws import (  # noqa: E402
    Request,
    _draft_law_at,
    _law_after,
    _top_k,
    checked_position,
    context_of,
    draw_from_bars,
    draw_from_pair,
    draw_with_loop,
)
from visualizations.why_exact.tables import acceptance_table, several_tokens, today_table  # noqa: E402

BARS = checked_bars(preset_value("article"))


@pytest.fixture(scope="module")
def pair(llama_pair):
    return llama_pair(0, 1)


@pytest.fixture(scope="module")
def trace(pair):
    return recording.decode(pair, "t3 t1 t4", gamma=3, max_new_tokens=24, seed=5, chat=False)


@pytest.mark.parametrize(
    "rule, n, seed", [("tokne", 1000, 0), (None, 1000, 0), ("token", 7, 0), ("token", None, 0), ("token", True, 0),
                      ("token", "1000", 0), ("token", 10**9, 0), ("token", [1000, 1000], 0), ("token", torch.tensor([1, 2]), 0), ("token", 1000, -1), ("token", 1000, 1e12), ("token", 1000, 0.5)],
)  # fmt: skip
def test_bad_choices_are_refused(rule, n, seed):
    with pytest.raises(BadInput):
        Request.checked(rule, n, seed)


@pytest.mark.parametrize("rule", RULES)
def test_bars(rule):
    value = draw_from_bars(BARS, Request.checked(rule, 100_000, 1))
    assert value["state"] == ("passed" if rule in ("token", "match", "block") else "failed")
    assert json.dumps(value, allow_nan=False)
    assert len(value["figures"][0]["frames"]) == len(value["checkpoints"])


def test_loop():
    assert draw_with_loop(BARS, Request.checked("block", 1000, 1), threading.Event())["state"] == "passed"
    assert draw_with_loop(BARS, Request.checked("raw_draft", 1000, 1), threading.Event())["state"] == "failed"


def test_the_context_of_every_position_gives_its_recorded_law(pair, trace):
    """Both models, asked again, give the overlap that the trace recorded: the context is the right one."""
    for index, position in enumerate(trace.positions):
        if position.overlap is None:
            continue
        ids = torch.tensor(context_of(trace, index))
        laws = []
        for model in (pair.target, pair.draft):
            model.rewind(0)
            laws.append(probabilities(model.extend(ids)[-1], trace.settings.target_sampling))
            model.rewind(0)
        assert float(overlap(*laws)) == pytest.approx(position.overlap, abs=1e-4)


def test_a_draft_that_reads_its_target_is_asked_again_as_it_was_in_its_round(reading_llamas):
    pair = reading_llamas()
    trace = recording.decode(pair, "t3 t1 t4", chat=False, temperature=3.0, gamma=4, max_new_tokens=20)
    places = [index for index, position in enumerate(trace.positions) if position.overlap is not None]
    for index in places:
        p = _law_after(pair.target, context_of(trace, index), trace.settings.target_sampling)
        assert float(overlap(p, _draft_law_at(pair, trace, index))) == pytest.approx(trace.positions[index].overlap, abs=1e-4)
        assert pair.target.length == pair.draft.length == 0
    assert len(places) > len(trace.rounds)


def test_real_models_without_a_law_are_refused_in_a_sentence(pair, trace, monkeypatch):
    sound = pair.draft.extend
    monkeypatch.setattr(pair.draft, "extend", lambda tokens: sound(tokens) * torch.nan)
    index = next(i for i, p in enumerate(trace.positions) if p.kind == "replaced")
    with pytest.raises(BadInput, match=f"{pair.draft.name} gave logits without a law"):
        list(draw_from_pair(pair, trace, index, Request.checked("token", 1000, 0)))
    assert pair.target.length == pair.draft.length == 0


@pytest.mark.parametrize("k, kept", [(1, [1]), (2, [1, 2]), (3, [0, 1, 2]), (9, [0, 1, 2, 3])])
def test_bars_are_cut_as_the_loop_cuts_them(k, kept):
    q = torch.tensor([0.2, 0.3, 0.3, 0.2], dtype=torch.float64)
    assert _top_k(q, k).nonzero().flatten().tolist() == kept
    torch.testing.assert_close(_top_k(q, k).float(), probabilities(q.log(), Sampling(1, k)))


@pytest.mark.parametrize("rule, state", [("token", "passed"), ("match", "passed"), ("no_residual", "failed"), ("raw_draft", "failed")])
def test_real_pair(pair, trace, rule, state):
    index = next(i for i, p in enumerate(trace.positions) if p.kind == "replaced")
    value = list(draw_from_pair(pair, trace, index, Request.checked(rule, 10_000, 0)))[-1]
    assert value["state"] == state and value["source"] == "real"
    assert pair.target.length == pair.draft.length == 0
    again = recording.decode(pair, "t3 t1 t4", trace.settings)
    assert again.output.ids == trace.output.ids


def test_a_copy_is_drawn_again_where_no_model_drafts(llama_pair):
    alone = llama_pair(0, None)
    copied = recording.decode(alone, "t3 t1 t4 t3 t1", drafter="prompt_lookup", max_new_tokens=24, seed=5, chat=False)
    index = next(i for i, p in enumerate(copied.positions) if p.drafted_by == "copy" and p.overlap is not None)
    value = list(draw_from_pair(alone, copied, index, Request.checked("token", 10_000, 0)))[-1]
    assert value["state"] == "passed" and "prompt lookup" in json.dumps(value)


def test_positions_without_a_draft_are_refused(trace):
    bonus = next((i for i, p in enumerate(trace.positions) if p.overlap is None), None)
    if bonus is not None:
        with pytest.raises(BadInput, match="drafted"):
            checked_position(trace, bonus)
    for bad in (-1, None, "0", 1.5, float("nan")):
        with pytest.raises(BadInput):
            checked_position(trace, bad)


def test_a_trace_of_other_models_is_refused(trace, table_pair):
    index = next(i for i, p in enumerate(trace.positions) if p.overlap is not None)
    with pytest.raises(BadInput, match="ids"):
        list(draw_from_pair(table_pair([0.5, 0.5], [0.5, 0.5]), trace, index, Request.checked("token", 1000, 0)))


def test_tables(trace):
    texts = [cell for entry in several_tokens() for row in entry["rows"] for cell in row]
    assert "10/9 = 1.111" in texts and "11/9 = 1.222" in texts
    assert [row[1] for row in several_tokens()[0]["rows"][:3]] == ["0.000"] * 3
    kept = [float(row[1]) for row in today_table(BARS)[0]["rows"]]
    assert kept[0] < kept[1] < kept[2]
    assert acceptance_table(trace, 0)[0]["rows"][0][4].startswith(f"{trace.metrics.accepted} of {trace.metrics.tested}")
