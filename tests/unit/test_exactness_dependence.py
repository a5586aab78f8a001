"""What acceptance depends on: facts of drafts, and shares over them."""

from __future__ import annotations

import math

import pytest
import torch
from scipy.stats import beta, entropy

from specdec.exactness.dependence import (
    Dependence,
    DraftFact,
    PromptKind,
    by_place,
    by_prompt,
    by_target_entropy,
    by_token_kind,
    divergence,
    measure_dependence,
    share_of,
    token_kind,
    worst_places,
)
from specdec.recording import decode
from specdec.settings import BadInput, Settings
from specdec.trace.strict_json import from_json

P, Q = [0.30, 0.25, 0.20, 0.15, 0.10], [0.10, 0.40, 0.10, 0.25, 0.15]


def last(growing) -> Dependence:
    *_, record = growing
    return record


def fact(**values) -> DraftFact:
    usual = dict(prompt=0, place=1, accepted=True, overlap=0.7, draft_entropy=1.0, target_entropy=1.0, divergence=0.2)
    return DraftFact(**{"kind": "new_word"} | usual | values)


def test_a_fact_holds_the_figures_of_its_two_laws(table_pair):
    """The worked example: overlap .70, entropy of q 1.458, KL .1974, so Pinsker's bound .686."""
    record = last(measure_dependence(table_pair(P, Q), ["t0"], Settings(chat=False, gamma=2, max_new_tokens=20)))
    assert record.facts
    for one in record.facts:
        assert one.overlap == pytest.approx(0.70, abs=1e-4)
        assert one.draft_entropy == pytest.approx(entropy(Q), abs=1e-4)
        assert one.target_entropy == pytest.approx(entropy(P), abs=1e-4)
        assert one.divergence == pytest.approx(entropy(Q, P), abs=1e-4)
        assert one.overlap >= 1 - math.sqrt(one.divergence / 2)


def test_facts_are_the_tested_drafts_of_the_run_that_the_settings_make(table_pair):
    pair, settings = table_pair(P, Q), Settings(chat=False, gamma=3, max_new_tokens=60, seed=5)
    facts = last(measure_dependence(pair, ["t0 t1"], settings)).facts
    trace = decode(pair, "t0 t1", settings)
    tested = [p for r in trace.rounds for p in r.positions[: r.tested]]
    assert [one.accepted for one in facts] == [p.kind == "accepted" for p in tested]
    assert [one.place for one in facts] == [n + 1 for r in trace.rounds for n in range(r.tested)]


def test_it_grows_prompt_by_prompt_and_is_read_back(table_pair):
    settings = Settings(chat=False, max_new_tokens=4)
    grown = list(measure_dependence(table_pair(P, Q), ["t0", "t1"], settings, kinds=["a", "b"]))
    assert [(one.done, one.total) for one in grown] == [(1, 2), (2, 2)]
    assert grown[-1].facts[: len(grown[0].facts)] == grown[0].facts
    assert from_json(Dependence, grown[-1].to_json(), name="record", limit=10**6) == grown[-1]
    with pytest.raises(BadInput):
        list(measure_dependence(table_pair(P, Q), []))


def test_a_token_that_the_target_never_says_is_infinitely_far():
    p, q = torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([[0.5, 0.5], [0.5, 0.5]])
    assert divergence(p, q).tolist() == [math.inf, 0.0]


def test_such_a_divergence_is_no_number_in_the_record(table_pair):
    record = last(measure_dependence(table_pair([1.0, 0.0], [0.5, 0.5]), ["t0"], Settings(chat=False, max_new_tokens=9)))
    assert {one.divergence for one in record.facts} == {None}


@pytest.mark.parametrize(
    ("before", "text", "kind"),
    [
        ("of", " sky", "new_word"), ("", "The", "new_word"), ("sk", "ies", "inside_word"), (".\n", "It", "new_word"),
        (" in", " 1999", "number"), ("19", "99", "number"), ("x", ",", "punctuation"), ("x", " —", "punctuation"),
        ("x", "\n\n", "line_break"), ("x", " ", "punctuation"), ("f", "(", "code"), ("", "```", "code"),
        ("", " ==", "code"), ("(", "x", "new_word"), ("2", "nd", "inside_word"), ("", "日本", "new_word"),
    ],
)  # fmt: skip
def test_kinds_of_tokens(before, text, kind):
    assert token_kind(text, before) == kind
    assert token_kind(text, before, special=True) == "special"


def test_shares_count_and_come_in_order():
    facts = [
        fact(place=2, accepted=False, kind="number", target_entropy=0.05),
        fact(place=1, prompt=1, target_entropy=0.1),
        fact(place=1, accepted=False, target_entropy=9.0),
    ]
    told = [(one.label, one.accepted, one.tested) for one in by_place(facts)]
    assert told == [("1", 1, 2), ("2", 0, 1)]
    assert [(one.label, one.accepted, one.tested) for one in by_token_kind(facts)] == [("new_word", 1, 2), ("number", 0, 1)]
    assert [(one.label, one.tested) for one in by_target_entropy(facts)] == [("0–0.1", 1), ("0.1–0.5", 1), ("> 4", 1)]
    prompts = [PromptKind("code", "x"), PromptKind("story", "y")]
    assert [(one.label, one.tested) for one in by_prompt(facts, prompts)] == [("code", 2), ("story", 1)]


def test_the_interval_is_that_of_clopper_and_pearson():
    share = share_of("x", 7, 9)
    assert share.rate == pytest.approx(7 / 9)
    assert share.low == pytest.approx(beta.ppf(0.025, 7, 3)) and share.high == pytest.approx(beta.ppf(0.975, 8, 2))


def test_acceptance_rises_along_the_draft_where_contexts_differ(table_pair):
    """Easy tokens are followed by easy ones: who is still in the draft is in easy text."""
    easy, hard = [0.98, 0.02], [0.05, 0.95]
    target, draft = [easy, hard], [easy, [0.6, 0.4]]
    record = last(measure_dependence(table_pair(target, draft), ["t0"], Settings(chat=False, gamma=4, max_new_tokens=500)))
    first, *_, fourth = by_place(record.facts)[:4]
    assert fourth.low > first.rate


def test_the_worst_places_are_tested_drafts_by_their_overlap(table_pair):
    tables = [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6], [0.9, 0.05, 0.05]], [[0.5, 0.3, 0.2], [0.6, 0.2, 0.2], [0.3, 0.3, 0.4]]
    trace = decode(table_pair(*tables), "t0", chat=False, gamma=3, max_new_tokens=60)
    worst = worst_places(trace, 7)
    overlaps = [trace.positions[index].overlap for index in worst]
    assert overlaps == sorted(overlaps) and len(worst) == 7
    rest = [p.overlap for i, p in enumerate(trace.positions) if p.kind in ("accepted", "replaced") and i not in worst]
    assert max(overlaps) <= min(rest)
