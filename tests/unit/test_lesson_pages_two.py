"""Pages 7 to 12 of the lesson: each answer is found here in another way than the page finds it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from specdec.decoding.rules import rule_of
from specdec.exactness.laws import one_position_law, total_variation
from specdec.exactness.sampling_test import emit_many, sampling_test
from specdec.exactness.theory import best_gamma, expected_tokens, predicted_speedup
from specdec.settings import Settings
from visualizations.lesson.glossary import glossary_table
from visualizations.lesson.pages import again_two, faster, length, match, sets, test
from visualizations.step_through.examples import examples, recorded_trace

PAGES = {
    page.key: page
    for page in (
        match.match_page(),
        sets.sets_page(),
        test.test_page(),
        faster.faster_page(),
        again_two.again_two_page(),
        length.length_page(),
    )
}


def right(key: str):
    (option,) = [option for option in PAGES[key].answer.options if option.right]
    return option


def blanks(key: str) -> list[float]:
    return [blank.number for blank in PAGES[key].answer.blanks]


def laws(page) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(page.BIG, dtype=torch.float64), torch.tensor(page.SMALL, dtype=torch.float64)


def test_match_keeps_the_products_at_the_place_where_that_costs_most():
    found = []
    for example in examples():
        run = json.loads(example.recording.read_text("utf-8"))
        if run["settings"]["temperature"] > 0 and run["settings"]["rule"] == "token":
            tested = [place for round_ in run["rounds"] for place in round_["positions"][: round_["tested"]]]
            found += [(place["overlap"] - products(place, "q"), place) for place in tested]
    gap, place = max(found, key=lambda one: one[0])
    here = match.widest_place()
    assert here.position.output_index == place["output_index"] and here.position.draft_id == place["draft_id"]
    assert here.by_token - here.by_match == pytest.approx(gap, abs=match.SURE)
    assert float(right("match").said.split(":")[0]) == pytest.approx(products(place, "q"), abs=0.006)
    assert match.kept_by_match_of_itself(here) == pytest.approx(products(place, "p"), abs=0.01) and products(place, "p") < 0.9
    assert f"{products(place, 'p'):.2f}" in PAGES["match"].asked[1].answer


def products(place: dict, of: str) -> float:
    """Σ p_big · p_small, or Σ p_big²; what other ids add is less than the first digits."""
    return sum(token["p"] * token[of] for token in place["candidates"])


def test_what_leaves_set_a_is_what_the_rule_rejects():
    p, q = laws(sets)
    rule = rule_of(Settings())
    chances = [float(rule.accept(p[None], q[None], torch.tensor([x]))) for x in range(len(p))]
    _, acceptance = one_position_law(rule, p, q)
    ids, accepted = emit_many(p, q, Settings(seed=3), 20_000)
    in_a = q >= p
    assert blanks("sets") == pytest.approx([sum(c < 1 for c in chances), 1 - acceptance, float(in_a[ids[~accepted]].double().mean())])
    assert 0 < min(c for c in chances if c > 0) and 0.0 in chances


def test_the_verdicts_of_the_two_tests_are_those_of_the_right_answer():
    small, big = (torch.tensor(masses, dtype=torch.float64) / 100 for masses in test.PRESETS[test.BARS])
    runs = {rule: sampling_test(big, small, Settings(rule=rule, seed=test.SEED), test.N) for rule in test.RULES}
    verdicts = tuple(runs[rule].chi_square.passed for rule in test.RULES)
    (name,) = [name for name, (said, fair) in test._SAID.items() if said == verdicts and fair]
    assert right("test").said == test.t(f"lesson.pages.test.options.{name}.said", exact_rule=test.rule_name("token"))
    law, acceptance = one_position_law(rule_of(Settings(rule="no_residual")), big, small)
    assert test.distance_without_residual(small.tolist(), big.tolist()) == pytest.approx(total_variation(law, big))
    assert f"{acceptance:.2f}" in PAGES["test"].words


def test_the_page_draws_what_it_asks_for_and_nothing_else():
    assert [test._drawn({"rule": rule})["state"] for rule in (*test.RULES, "mine", None)] == ["passed", "failed", "fault", "fault"]
    assert test._drawn("a text")["state"] == "fault"


def test_near_ties_are_those_that_bfloat16_confuses():
    step = float(torch.finfo(torch.bfloat16).eps) * test.LOGIT
    run = recorded_trace(next(example for example in examples() if example.key == test.SAMPLED))
    emitted = {place.output_index: place for round_ in run.rounds for place in round_.positions if place.kind != "discarded"}
    logits = [run.settings.temperature * np.log(np.sort([c.p for c in place.candidates])[:-3:-1]) for place in emitted.values()]
    gaps = np.array([first - second for first, second in logits])
    ties = test.near_ties(run, step)
    assert (ties.places, ties.of, ties.closest[2]) == ((gaps < step).sum(), len(gaps), pytest.approx(gaps.min()))
    assert 0 < ties.places < ties.of
    assert f"{step:g}" in PAGES["test"].asked[0].answer and f"{ties.places} of {ties.of}" in PAGES["test"].asked[0].answer


def test_below_the_right_alpha_no_draft_length_pays():
    start = faster.what_if_value(faster.measured_sweep())["start"]
    alphas = [step / 100 for step in range(101)]
    useless = [alpha for alpha in alphas if best_gamma(alpha, start["c"], start["v"])[0] == 0]
    assert useless == alphas[: len(useless)]
    assert right("faster").said.endswith(f"{useless[-1]:.2f}")
    alpha = faster.even_alpha(4, start["c"], start["v"])
    assert predicted_speedup(expected_tokens(alpha, 4), 4, start["c"], start["v"]) == pytest.approx(1)
    assert faster.even_alpha(4, 1.5, 1.0) == 1


def test_what_is_said_of_the_measurement_is_in_the_record():
    best = max(faster.measured_sweep().points, key=lambda point: point.result.speedup.pooled)
    said = f"γ = {best.gamma}: {best.result.prediction.speedup:.2f}× predicted, {best.result.speedup.pooled:.2f}× measured"
    assert said in PAGES["faster"].reason


def test_replacements_come_as_often_as_the_table_says():
    p, q = laws(again_two)
    ids, accepted = emit_many(p, q, Settings(seed=5), 200_000)
    often = torch.bincount(ids[~accepted], minlength=len(p)).double() / int((~accepted).sum())
    assert blanks("again_two") == pytest.approx(often[list(again_two.ASKED)].tolist(), abs=0.01)
    assert float(often[again_two.REJECTED]) == 0 and float(rejected_share(p, q)) == 1


def rejected_share(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Of all rejections, those of the word that the page names: whoever is told of one knows which it was."""
    excess = (q - p).clamp(min=0)
    return excess[again_two.REJECTED] / excess.sum()


def test_no_threshold_is_worth_more_than_the_right_one():
    lengths = length.recorded_lengths()
    thresholds = length.candidate_thresholds(lengths)
    worth = {step: by_hand(lengths, step * length.STEP) for step in range(101)}
    best = max(worth, key=worth.get)
    assert thresholds["best"].threshold == pytest.approx(best * length.STEP)
    assert thresholds["best"].speedup == pytest.approx(worth[best])
    assert right("length").said.startswith(f"{best * length.STEP:.2f}")
    assert thresholds["careful"].wasted == 0
    assert thresholds["long"].per_round == max(length.cut_at(lengths, step * length.STEP).per_round for step in worth)
    kept = sum(round_.accepted for round_ in lengths.run.rounds)
    assert thresholds["none_lost"].kept == kept > length.cut_at(lengths, thresholds["none_lost"].threshold - length.STEP).kept


def by_hand(lengths, threshold: float) -> float:
    """Speedup of the run with its drafts cut, counted draft by draft."""
    costs = lengths.policies.costs
    tokens = seconds = 0.0
    for round_ in lengths.run.rounds:
        drafted = 0
        for draft in round_.drafts:
            drafted += 1
            if draft.entropy > threshold:
                break
        tokens += min(round_.accepted + 1, drafted + 1, round_.emitted)
        seconds += drafted * costs.draft_seconds + costs.target_seconds(drafted + 1)
    return tokens * costs.target_seconds(1) / seconds


def test_the_glossary_has_every_word_in_both_languages():
    rows = glossary_table()["rows"]
    english, chinese, signs, meanings = zip(*rows)
    assert len(set(english)) == len(set(chinese)) == len(rows) >= 15
    assert all(word.isascii() for word in english) and all(any("一" <= sign <= "鿿" for sign in word) for word in chinese)
    assert all(meanings) and {"γ", "u", "α", "c", "v"} <= set(signs)
