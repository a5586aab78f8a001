"""The bars say what the trace says, in a frame, in the figure and in its JSON."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

from tests.made_trace import law, made_trace, position, trace_of
from visualizations.figures.labels import tick_label, token_label
from visualizations.figures.palette import DARK_PAGE, LIGHT_PAGE, MEANINGS, contrast
from visualizations.figures.run_figure import run_figure
from visualizations.figures.token_bars import SHOWN, bar_frame, skeleton, token_bars, traces_of, x_axis_of

TRACE = made_trace()
DRAFTED = [p for p in TRACE.positions if p.overlap is not None]
FREE = [p for p in TRACE.positions if p.overlap is None]


def laws(frame: dict) -> tuple[list[float], list[float]]:
    p = [a + b for a, b in zip(frame["overlap"], frame["residual"])]
    q = [a + b for a, b in zip(frame["overlap"], frame["excess"])]
    return p, q


@pytest.mark.parametrize("place", range(len(DRAFTED)))
def test_columns_add_up_to_each_candidates_p_big_and_p_small(place):
    frame = bar_frame(DRAFTED[place])
    p, q = laws(frame)
    by_id = {c.id: c for c in DRAFTED[place].candidates}
    for index, id_ in enumerate(frame["ids"][:-1]):
        assert p[index] == pytest.approx(by_id[id_].p, rel=1e-4, abs=1e-12)
        assert q[index] == pytest.approx(by_id[id_].q, rel=1e-4, abs=1e-12)
        assert frame["overlap"][index] == pytest.approx(min(by_id[id_].p, by_id[id_].q), rel=1e-4)
    assert sum(p) == pytest.approx(1, abs=1e-4)
    assert sum(q) == pytest.approx(1, abs=1e-4)
    assert sum(frame["overlap"]) == pytest.approx(DRAFTED[place].overlap, abs=1e-4)


def test_other_is_summed_id_by_id_and_takes_in_what_has_no_bar():
    shown = bar_frame(DRAFTED[1], shown=4)
    assert len(shown["ids"]) == 5
    assert sum(shown["overlap"]) == pytest.approx(DRAFTED[1].overlap, abs=1e-4)
    assert sum(shown["residual"]) == pytest.approx(DRAFTED[1].residual_mass, abs=1e-4)
    assert shown["excess"][-1] > 0 and shown["residual"][-1] > 0


def test_bars_fall_by_the_larger_probability_and_other_comes_last():
    for drafted in DRAFTED:
        p, q = laws(bar_frame(drafted))
        larger = [max(a, b) for a, b in zip(p, q)][:-1]
        assert larger == sorted(larger, reverse=True)


def test_drafted_and_emitted_tokens_are_marked_however_unlikely():
    last = position("replaced", 0, 78, law(1, id0=0.5), law(2, id0=0.5), 79, 0.9)
    frame = bar_frame(last, shown=3)
    assert frame["ids"][frame["drafted"]] == 79
    assert frame["ids"][frame["emitted"]] == 78
    assert len(frame["ids"]) == 4


def test_a_discarded_draft_was_not_emitted():
    discarded = next(p for p in TRACE.positions if p.kind == "discarded")
    frame = bar_frame(discarded)
    assert frame["emitted"] is None and frame["drafted"] is not None


def test_a_position_without_a_draft_has_only_p_big():
    for free in FREE:
        frame = bar_frame(free)
        assert sum(frame["target"]) == pytest.approx(1, abs=1e-4)
        assert "overlap" not in frame and frame["drafted"] is None
        assert frame["ids"][frame["emitted"]] == free.token_id


def test_equal_labels_stay_two_bars():
    twins = bar_frame(position("bonus", 0, 6, law(1, id6=0.3, id7=0.2), None))
    assert [twins["labels"][i] for i in (0, 1)] == ["␣the", "␣the"]
    assert x_axis_of(twins)["tickvals"] == list(range(len(twins["ids"])))
    assert traces_of(twins)[4]["y"][:2] == [pytest.approx(twins["target"][0]), pytest.approx(twins["target"][1])]


def test_space_before_a_word_is_seen():
    assert token_label(" a", 1) == "␣a" != token_label("a", 2)


@pytest.mark.parametrize(
    ("text", "part", "label"),
    [
        ("\n", None, "⏎"), ("\t", None, "⇥"), ("\r\n", None, "␍⏎"), (" " * 8, None, "␣×8"), ("", "F0 9F", "‹F0 9F›"),
        ("🦄", "84", "🦄"), ("", None, "‹id 7›"), ("\u200b", None, "‹U+200B›"), ("\u202e", None, "‹U+202E›"),
        ("\u0301", None, "◌\u0301"), ("\u3000", None, "‹U+3000›"), ("👩\u200d🚀", None, "👩\u200d🚀"),
    ],
)  # fmt: skip
def test_no_token_is_invisible(text, part, label):
    assert token_label(text, 7, part) == label


UNSEEN = [
    "\u2800", "\u3164", "\u115f", "\u1160", "\uffa0", "\u00ad", "\u034f", "\u17b5", "\u180b", "\u200b", "\u200d", "\u2060",
    "\u2065", "\ufe0f", "\ufeff", "\ufff0", "\ufffc", "\u0378", "\uffff", "\ue000", "\U0001d159", "\U000e0041", "\U000e0100",
]  # fmt: skip


@pytest.mark.parametrize("around", ["{}", "wo{}rd", "{}word", "word{}", " {}", "1{}"])
@pytest.mark.parametrize("character", UNSEEN, ids=ascii)
def test_what_is_drawn_as_nothing_is_named(character, around):
    label = token_label(around.format(character), 7)
    assert label == around.replace(" ", "␣").format(f"‹U+{ord(character):04X}›")


@pytest.mark.parametrize("character", UNSEEN, ids=ascii)
def test_what_is_drawn_as_nothing_is_named_each_time(character):
    assert token_label(3 * character, 7) == 3 * f"‹U+{ord(character):04X}›"


@pytest.mark.parametrize(
    "text",
    [
        "❤\ufe0f", "☎\ufe0e", "1\ufe0f\u20e3", "👩🏽\u200d🚀", "❤\ufe0f\u200d🔥🏳\ufe0f\u200d🌈", "🇫🇷",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\u0dc1\u0dca\u200d\u0dbb\u0dd3", "e\u0301", "가", "⠁",
    ],
    ids=ascii,
)  # fmt: skip
def test_what_chooses_how_a_sign_is_drawn_belongs_to_it(text):
    assert token_label(text, 7) == text


@pytest.mark.parametrize("text", ["<b>bold</b>", "$x^2$", "a&lt;b"])
def test_plotly_gets_no_markup_from_a_token(text):
    tick = tick_label(text)
    assert not set("<>$") & set(tick)
    assert tick.replace("&lt;", "<").replace("&gt;", ">").replace("&#36;", "$").replace("&amp;", "&") == text


def test_log_scale_gets_no_bar_of_height_zero_and_no_hover_point_at_zero():
    for frame in map(bar_frame, TRACE.positions):
        bars = traces_of(frame)
        assert all(height is None or height > 0 for bar in bars[:5] for height in bar["y"])
        assert min(bars[5]["y"]) > 0


def test_one_figure_has_a_frame_and_a_slider_step_for_each_position():
    figure = token_bars(TRACE)
    assert len(figure.frames) == len(figure.layout.sliders[0].steps) == len(TRACE.positions)
    assert [step.args[0][0] for step in figure.layout.sliders[0].steps] == [frame.name for frame in figure.frames]
    assert "rejected" in figure.frames[1].layout.title.text
    assert {button.args[0]["yaxis.type"] for button in figure.layout.updatemenus[0].buttons} == {"linear", "log"}


def test_a_run_steps_in_a_notebook_below_its_tokens_and_with_its_numbers():
    figure = run_figure(TRACE)
    steps, bars = figure.layout.sliders[0].steps, token_bars(TRACE)
    rounds = [(n, place) for n, round_ in enumerate(TRACE.rounds, 1) for place in range(1, len(round_.positions) + 1)]
    assert [step.label.split(":")[0] for step in steps] == [f"round {n}, place {place}" for n, place in rounds]
    for frame, plain, at in zip(figure.frames, bars.frames, TRACE.positions, strict=True):
        assert list(frame.data[:-1]) == list(plain.data) and len(frame.data) == len(figure.data)
        chosen = [text for text in frame.data[-1].text if "<b>" in text]
        label = tick_label(token_label(at.text, at.token_id, at.bytes))
        assert len(chosen) == 1 and f"[ {label} ]" in chosen[0]
        assert frame.layout.title.text.startswith(plain.layout.title.text + "<br>")
    rejected = figure.frames[1].layout.title.text
    blue = TRACE.positions[1]
    assert all(f"{number:.3g}" in rejected for number in (blue.p, blue.q, blue.coin, blue.overlap))
    assert not run_figure(trace_of([])).frames


def test_figure_frames_and_page_frames_hold_the_same_numbers():
    figure = token_bars(TRACE)
    for drawn, whole in zip(figure.frames, map(bar_frame, TRACE.positions)):
        for trace, added in zip(drawn.data, traces_of(whole)):
            assert list(trace.y) == list(added["y"])


def test_everything_is_strict_json():
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(token_bars(TRACE).to_json(), parse_constant=refuse)
    for data in (skeleton(), [bar_frame(p) for p in TRACE.positions]):
        json.dumps(data, allow_nan=False)


def test_an_empty_run_is_an_empty_figure():
    figure = token_bars(trace_of([]))
    assert not figure.frames


def test_meanings_are_told_apart_without_colour_and_seen_on_light_and_dark():
    for one, other in combinations(MEANINGS.values(), 2):
        assert one.pattern != other.pattern and one.color != other.color
    for meaning in MEANINGS.values():
        assert contrast(meaning.color, LIGHT_PAGE) >= 3 and contrast(meaning.color, DARK_PAGE) >= 3


def test_figure_colours_follow_the_page():
    layout = token_bars(TRACE).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert layout.height and layout.legend.orientation == "h"


def test_more_candidates_than_bars_never_show_more_than_asked():
    assert all(len(bar_frame(p)["ids"]) <= SHOWN + 1 for p in TRACE.positions)
