"""The figures, sentences and tables of the tab "Drafting", from records whose numbers can be checked by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from specdec.exactness.dependence import by_place, by_prompt, by_token_kind, share_of
from specdec.exactness.theory import best_shared, shared_speedup
from specdec.settings import POLICIES, BadInput
from specdec.timing.policies import Cut, PolicyRuns, cut_round, worth_of
from specdec.timing.records import from_json
from tests.made_drafting import (
    MOST,
    ROUNDS,
    made_dependence,
    made_drafters,
    made_policies,
    made_policy_runs,
    made_round,
)
from tests.made_timings import made_costs
from visualizations.drafting.columns import columns_value
from visualizations.drafting.form import read_form
from visualizations.drafting.records import recorded
from visualizations.drafting.shared import shared_value
from visualizations.drafting.tab import _recorded_values
from visualizations.drafting.threshold import threshold_value
from visualizations.drafting.words import (
    drafters_report,
    entropy_caption,
    kind_caption,
    place_caption,
    policies_report,
    policies_verdict,
    policy_answers,
    target_caption,
)
from visualizations.drafting.worst import worst_value
from visualizations.figures.acceptance import (
    overlap_by_entropy,
    pinsker_bound,
    pinsker_line,
    rates,
    rates_by_kind,
)
from visualizations.figures.draft_columns import TRACES, cut_columns, draft_columns
from visualizations.figures.drafter_map import STEPS, best_speedup, drafter_map
from visualizations.figures.shared_machine import BATCHES, best_of, shared_machine, speedups
from visualizations.step_through.examples import examples, recorded_trace
from visualizations.text import section

FORM = ["smollm2-135m+student", 48, 3, ["code", "story"]]


@pytest.mark.parametrize(
    ("round_", "kind", "threshold", "cut"),
    [
        (0, "entropy", 0.6, Cut(3, 3, 3, 4)),  # the draft that crosses the threshold is kept
        (0, "entropy", 2.0, Cut(5, 5, 4, 5)),
        (0, "entropy", 3.0, Cut(8, 5, 4, 5)),  # above, not at
        (0, "confidence", 0.4, Cut(3, 3, 3, 4)),
        (0, "confidence", 0.3, Cut(5, 5, 4, 5)),  # below, not at
        (0, "confidence", 0.0, Cut(8, 5, 4, 5)),
        (1, "entropy", 0.6, Cut(1, 1, 0, 1)),
        (2, "entropy", 0.0, Cut(1, 1, 1, 2)),
    ],
)
def test_a_threshold_only_removes_drafts(round_: int, kind: str, threshold: float, cut: Cut) -> None:
    assert cut_round(made_round(*ROUNDS[round_]), kind, threshold) == cut


def test_a_round_is_counted_as_kept_rejected_and_wasted() -> None:
    first, second, third = (made_round(*round_) for round_ in ROUNDS)
    assert [(r.accepted, r.rejected, r.wasted, r.hindsight(MOST)) for r in (first, second, third)] == [(4, 1, 3, 5), (0, 1, 7, 1), (8, 0, 0, 8)]


def test_a_round_that_ended_the_text_emits_no_more_than_it_did() -> None:
    ended = replace(made_round(*ROUNDS[2]), emitted=8)  # the eighth draft ended it: no bonus token
    assert cut_round(ended, "entropy", 5.0) == Cut(8, 8, 8, 8)
    assert cut_round(ended, "entropy", 0.0) == Cut(1, 1, 1, 2)


def test_what_cut_rounds_are_worth_is_the_closed_form_of_their_costs() -> None:
    per_round, speedup = worth_of([Cut(2, 2, 1, 2), Cut(0, 0, 0, 1)], made_costs())
    assert per_round == pytest.approx(1.5)
    assert speedup == pytest.approx(3 * 0.020 / (2 * 0.005 + 0.022 + 0.020))


def test_columns_stack_to_the_drafts_and_mark_the_best_length() -> None:
    figure = draft_columns(made_policy_runs())
    assert [frame.name for frame in figure.frames] == list(POLICIES)
    traces = dict(zip(TRACES, figure.frames[0].data))
    stacked = {name: tuple(height or 0 for height in trace.y) for name, trace in traces.items()}
    assert [stacked[name] for name in TRACES] == [(4, 0, 8), (1, 1, 0), (3, 7, 0), (0, 0, 0), (5, 1, 8)]
    assert "<b>" not in traces["best"].text[0] and "&lt;b&gt;" in traces["best"].text[0]
    assert [len(frame.data[0].x) for frame in figure.frames] == [3, 2, 1, 2, 1]


def test_columns_that_a_threshold_cuts_keep_their_height() -> None:
    figure = cut_columns(made_policy_runs().runs[0], "entropy", 0.6, MOST)
    heights = [tuple(height or 0 for height in figure.data[TRACES.index(name)].y) for name in ("kept", "rejected", "wasted", "undrafted")]
    assert heights == [(3, 0, 8), (0, 1, 0), (0, 0, 0), (5, 7, 0)]
    assert [sum(column) for column in zip(*heights)] == [8, 8, 8]


def test_each_policy_says_what_its_run_was() -> None:
    answers = policy_answers(made_policy_runs())
    assert answers["fixed"].startswith("Always 8 drafts.") and "It made 24 drafts in 3 rounds, 10 of them wasted; 5.00 tokens" in answers["fixed"]
    assert set(columns_value(made_policy_runs(), answers)["answers"]) == set(POLICIES)
    value = threshold_value(made_policy_runs(), made_costs())
    assert value["rounds"][1]["entropies"][0] == 2.0 and value["costs"]["draft"] == 0.005


@pytest.mark.parametrize(("slowness", "begins"), [(-0.3, "Better than any fixed length"), (0.3, "No policy is as good as γ = 2")])
def test_the_verdict_on_policies_compares_intervals(slowness: float, begins: str) -> None:
    assert policies_verdict(made_policies(slowness)).startswith(begins)


def test_no_better_is_said_where_it_is_so() -> None:
    assert policies_verdict(made_policies(0.04)).startswith("No better than γ = 2: the best policy")
    assert policies_verdict(made_policies(0.04, repeats=2)).startswith("Too few runs to tell: 2 pairs")
    assert policies_report(None)["tables"] == []


def test_the_table_has_every_way_but_plain_decoding() -> None:
    [table] = policies_report(made_policies())["tables"]
    assert len(table["rows"]) == 2 + len(POLICIES) - 1
    assert table["rows"][0] == ["fixed, γ = 2", "2.50", "2.00", "0.12", "1.56×", "1.52× [1.52, 1.52]"]


def test_acceptance_is_drawn_with_its_intervals() -> None:
    facts = made_dependence().facts
    shares = by_place(facts)
    points = rates(shares, "place").data[0]
    assert list(points.x) == ["1", "2"] and list(points.y) == [0.5, 1.0]
    assert points.error_y.array[0] == pytest.approx(shares[0].high - 0.5) and points.error_y.array[1] == 0
    tokens, prompts = rates_by_kind(by_token_kind(facts), by_prompt(facts, made_dependence().prompts)).data
    assert list(tokens.y) == ["new word", "inside a word"] and list(prompts.y) == ["code", "story"]


def test_acceptance_rises_along_the_draft_only_where_the_intervals_allow_it() -> None:
    record = made_dependence()
    low, high, few = share_of("1", 50, 100), share_of("4", 45, 50), share_of("4", 3, 5)
    assert place_caption(record, [low, high]).startswith("It rises along the draft, from 0.50 to 0.90 at place 4")
    assert place_caption(record, [high, low]).startswith("It falls, from 0.90")
    assert "leave open whether it rises" in place_caption(record, [low, few])
    assert place_caption(record, []) == ""


def test_the_easiest_and_hardest_kinds_are_those_with_enough_drafts() -> None:
    kinds = [share_of("new_word", 10, 40), share_of("code", 18, 20), share_of("number", 3, 3)]
    assert kind_caption(kinds, kinds[:1]) == "Easiest kind of token: code sign, α 0.90; hardest: new word, 0.25."
    assert target_caption(kinds[:2]).startswith("α 0.25 where the target is sure (new_word nats), 0.90")


def test_every_kind_of_token_and_prompt_has_a_name() -> None:
    from typing import get_args

    from specdec.exactness.dependence import TokenKind
    from specdec.timing.prompts import OWN_KINDS

    assert set(section("drafting.acceptance.token")) == set(get_args(TokenKind))
    assert set(section("drafting.acceptance.prompt")) == set(OWN_KINDS)


def test_the_bound_lies_below_the_overlap_and_the_threshold_is_drawn_in() -> None:
    assert pinsker_bound(0.1974) == pytest.approx(0.686, abs=1e-3)
    assert (pinsker_bound(None), pinsker_bound(8.0), pinsker_bound(0.0)) == (0.0, 0.0, 1.0)
    facts = made_dependence().facts
    centres, bounds = pinsker_line(facts)
    assert centres == sorted(centres) and len(bounds) == len(centres)
    points, line, threshold = overlap_by_entropy(facts, 0.6).data
    assert len(points.x) == len(facts) and list(threshold.x) == [0.6, 0.6] and list(line.y) == bounds
    assert "Mean β 0.82 up to 0.6 nats, 0.80 beyond" in entropy_caption(made_dependence(), 0.6)


def test_the_map_has_a_point_for_each_drafter_over_the_closed_form() -> None:
    contours, *points = drafter_map(made_drafters()).data
    assert [point.name for point in points] == ["student", "copying", "student after copying", "the target itself"]
    assert points[0].x[0] == pytest.approx(math.sqrt(0.07))
    assert contours.z[STEPS][0] == pytest.approx(best_speedup(1.0, 0.0, made_drafters().costs)) == pytest.approx(5 / 1.2)
    assert contours.z[0][STEPS] == 1.0
    report = drafters_report(made_drafters())
    assert report["verdict"].startswith("Fastest here: student after copying, 1.50×") and len(report["tables"][0]["rows"]) == 5


def test_a_shared_machine_leaves_less_and_no_line_goes_where_nothing_was_measured() -> None:
    costs = made_costs((*range(1, 18), 32, 64))
    assert speedups(0.5, 4, costs)[:3] == [shared_speedup(0.5, 4, batch, costs.draft_seconds, costs.target_seconds) for batch in (1, 2, 4)]
    assert speedups(0.5, 4, costs)[BATCHES.index(16)] is None
    best = best_of(0.8, costs)
    assert best[0] == best_shared(0.8, 1, costs.draft_seconds, costs.target_seconds, 64)
    assert [speedup for _, speedup in best] == sorted((speedup for _, speedup in best), reverse=True)
    assert list(shared_machine(costs, 0.8).data[-1].y) == [speedup for _, speedup in best]
    assert shared_value(costs, 0.8123)["alpha"] == 0.81 and shared_value(None)["figure"] is None


def test_the_worst_places_are_told_with_where_they_are() -> None:
    trace = recorded_trace(examples()[0])
    places = worst_value(trace)["places"]
    assert len(places) == 20 or len(places) == trace.metrics.tested
    overlaps = [trace.positions[place["index"]].overlap for place in places]
    assert overlaps == sorted(overlaps) and all(place["label"] for place in places)
    assert worst_value(None, "why")["said"] == "why"


def test_records_go_through_json_and_figures_are_strict() -> None:
    runs = made_policy_runs()
    assert from_json(PolicyRuns, runs.to_json()) == runs
    for figure in (draft_columns(runs), drafter_map(made_drafters()), shared_machine(made_costs(), 0.5)):
        json.loads(figure.to_json(), parse_constant=lambda name: pytest.fail(name))


def test_what_the_tab_opens_with_is_there_and_can_be_shown() -> None:
    kept = recorded()
    assert [run.policy for run in kept.policy_runs.runs] == list(POLICIES) and kept.dependence.facts and kept.costs.draft_step
    assert kept.policies.done == kept.policies.total and kept.drafters.points
    assert all(isinstance(value, dict) for value in _recorded_values())


def test_what_a_visitor_may_ask_for() -> None:
    asked = read_form(FORM)
    assert (asked.choice.key, asked.settings.max_new_tokens, asked.repeats, asked.kinds) == ("smollm2-135m+student", 48, 3, ("code", "story"))
    assert asked.prompts[0].startswith("Write a Python")


@pytest.mark.parametrize(
    ("place", "value", "named"),
    [(0, "custom", "pair"), (1, 0, "max_new_tokens"), (1, 129, "max_new_tokens"), (1, None, "max_new_tokens"), (2, 11, "repeats"),
     (2, 1.5, "repeats"), (3, [], "prompts"), (3, "code", "prompts"), (3, ["<b>"], "prompts")],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused_by_name(place: int, value: object, named: str) -> None:
    with pytest.raises(BadInput, match=f"^{named} must be"):
        read_form([*FORM[:place], value, *FORM[place + 1 :]])
