"""What the page is sent: complete, small, strict; and the law a token came from."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from specdec.settings import RULES
from tests.made_trace import VOCABULARY, law, made_trace, of_itself, position
from visualizations.figures.token_bars import bar_frame
from visualizations.step_through.run_view import run_view_value
from visualizations.step_through.run_view.ranks import drawn_from
from visualizations.step_through.run_view.value import settings_line
from visualizations.text import data, pieces, section, t

TRACE = made_trace()


def test_sixty_four_tokens_fit_in_120_kilobytes():
    value = run_view_value(TRACE)
    size = len(json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode())
    assert size / len(TRACE.positions) * 130 < 120_000  # 64 tokens and as many discarded drafts


def test_candidates_are_sent_once():
    assert "candidates" not in json.dumps(run_view_value(TRACE))


def test_every_position_has_its_frame():
    for round_, sent in zip(TRACE.rounds, run_view_value(TRACE)["rounds"], strict=True):
        assert sent["frames"] == [bar_frame(position) for position in round_.positions]
        assert len(sent["positions"]) == len(sent["frames"])


def test_the_text_of_a_round_can_be_cut_into_its_positions():
    for round_, sent in zip(TRACE.rounds, run_view_value(TRACE)["rounds"], strict=True):
        rest = sent["text"].encode("utf-16-le")
        for place, fact in zip(round_.positions, sent["positions"], strict=True):
            if place.kind != "discarded":
                size = fact.get("units", len(fact["label"].encode("utf-16-le")) // 2)
                text, rest = rest[: 2 * size].decode("utf-16-le"), rest[2 * size :]
                assert text == place.text
        assert rest == b""


def test_settings_line_tells_what_ran():
    line = settings_line(made_trace(rule="match", temperature=0.7, top_k=50, top_p=0.9, seed=7))
    assert line == ["big ← small", "T 0.7", "top-k 50", "top-p 0.9", "γ 4", "sample and match", "chat template", "seed 7"]


def test_prompt_lookup_is_named_as_the_drafter():
    assert settings_line(made_trace(drafter="prompt_lookup"))[0] == "big ← prompt lookup"


def test_replacement_has_its_probability_and_rank_in_the_residual():
    rejected = next(p for p in TRACE.positions if p.kind == "replaced")
    probability, rank = drawn_from(rejected, "token")
    assert probability == pytest.approx((0.2 - 0.05) / rejected.residual_mass, rel=1e-4)
    assert rank is not None and rank >= 1


def test_replacement_of_sample_and_match_comes_from_p_big_without_the_draft():
    rejected = next(p for p in made_trace(rule="match").positions if p.kind == "replaced")
    assert drawn_from(rejected, "match")[0] == pytest.approx(0.2 / (1 - 0.12), rel=1e-4)


def test_a_rule_without_a_residual_draws_its_replacement_from_p_big():
    rejected = next(p for p in TRACE.positions if p.kind == "replaced")
    for rule in ("no_residual", "typical"):
        assert drawn_from(rejected, rule)[0] == pytest.approx(0.2, rel=1e-4)


@pytest.mark.parametrize("rule", ["block", "raw_draft", "argmax_draft"])
def test_nothing_is_claimed_of_a_residual_that_the_trace_does_not_tell(rule):
    rejected = next(p for p in TRACE.positions if p.kind == "replaced")
    assert drawn_from(rejected, rule) == (None, None)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_name_and_a_value(rule):
    trace = made_trace(rule=rule)
    value = run_view_value(trace)
    assert t(f"run_view.rules.{rule}") in value["settings"]
    assert section("run_view.residual").get("title_" + value["law"]) or value["law"] == "unknown"


@pytest.mark.parametrize("seed", range(30))
def test_a_rank_is_right_or_not_told(seed):
    p, q = law(seed), law(seed + 100)
    for id_ in range(VOCABULARY):
        _, rank = drawn_from(position("bonus", 0, id_, p, None), "token")
        assert rank in (None, 1 + int((p > p[id_]).sum()))
        _, rank = drawn_from(position("accepted", 0, id_, p, q, id_, 0.0), "token")
        assert rank in (None, 1 + int((q > q[id_]).sum()))


def test_the_most_likely_token_has_rank_one():
    assert drawn_from(position("bonus", 0, 0, law(1, id0=0.5), None), "token")[1] == 1


@pytest.mark.parametrize(
    ("settings", "dtype", "told"),
    [
        ({}, "bfloat16", "bfloat16"), ({}, "float16", "float16"), ({}, "float32", None),
        ({"rule": "match"}, "bfloat16", None), ({"rule": "match", "temperature": 0.0}, "bfloat16", "bfloat16"),
        ({"draft_temperature": 0.5}, "bfloat16", None), ({"drafter": "prompt_lookup"}, "bfloat16", None),
        ({"rule": "block"}, "bfloat16", "bfloat16"), ({"rule": "typical"}, "bfloat16", None),
    ],
)  # fmt: skip
def test_rounding_is_blamed_only_where_nothing_else_can_reject(settings, dtype, told):
    trace = of_itself(made_trace(**settings), dtype)
    assert run_view_value(trace)["rounding"] == told


def test_rounding_is_not_blamed_where_two_models_differ():
    assert run_view_value(replace(TRACE, dtype="bfloat16"))["rounding"] is None


def test_a_wrong_text_key_is_an_error():
    with pytest.raises(KeyError):
        t("run_view.no_such_text")


def test_a_sentence_in_pieces_keeps_what_a_model_wrote_apart():
    said = pieces("exact.acceptance.position", number=3, draft=data("{x}"))
    assert said == ["3", " (draft ‘", {"data": "{x}"}, "’)"]
    whole = pieces("exact.acceptance.where", pair=data("a"), rule="r", tested=1, rounds=2, position=said)
    assert "".join(piece if isinstance(piece, str) else piece["data"] for piece in whole) == t(
        "exact.acceptance.where", pair="a", rule="r", tested=1, rounds=2, position="3 (draft ‘{x}’)"
    )
    assert [piece for piece in whole if isinstance(piece, dict)] == [data("a"), data("{x}")]
