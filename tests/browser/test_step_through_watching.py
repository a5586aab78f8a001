"""Watching tokens along the run, and finding places in it, in Chromium: one page for the file."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402

from specdec.exactness.dependence import worst_places  # noqa: E402
from specdec.trace.growing import Step  # noqa: E402
from tests.made_trace import HOSTILE, made_trace  # noqa: E402
from visualizations.figures.labels import token_label  # noqa: E402
from visualizations.figures.token_bars import LOG_FLOOR, bar_frame  # noqa: E402
from visualizations.step_through.examples import examples, recorded_trace  # noqa: E402
from visualizations.step_through.run_view import RunView, ShownRun, empty_value, new_run, run_view_value  # noqa: E402
from visualizations.text import t  # noqa: E402

RECORDED = recorded_trace(examples()[0])
MADE = made_trace()
GROWN, SAME_VOCABULARY, OTHER = (made_trace(seed=seed) for seed in (21, 22, 23))
OTHER_VOCABULARY = replace(OTHER, pair=replace(OTHER.pair, vocab_size=OTHER.pair.vocab_size + 1))
WHOLE = {"recorded": RECORDED, "made": MADE, "same vocabulary": SAME_VOCABULARY, "other vocabulary": OTHER_VOCABULARY}


def grow():
    run = ShownRun(GROWN, new_run())
    yield empty_value(run.run, running=True)
    for round_ in GROWN.rounds:
        run.add(Step(round_, "length"))
        yield run.since(len(run) - 1)
    run.end()
    yield run.since(len(run))


@pytest.fixture(scope="module")
def view(shared_page):
    with gr.Blocks() as demo:
        view = RunView(run_view_value(RECORDED))
        for name, trace in WHOLE.items():
            gr.Button(name).click(lambda trace=trace: run_view_value(trace), None, view, show_progress="hidden")
        gr.Button("grow").click(grow, None, view, show_progress="hidden")
    _, address, _ = demo.launch(prevent_thread_lock=True, quiet=True, run_history=False)
    shared_page.goto(address)
    shared_page.wait_for_selector(".rv-bars .main-svg")
    yield shared_page
    demo.close()


def shown(view, name: str) -> None:
    """Another run on screen, nothing watched, the first position selected."""
    run_shown(view, name, WHOLE[name])
    for _ in range(view.locator(".rv-chip").count()):
        view.locator(".rv-chip button").first.click()
    go_to(view, 0)


def run_shown(view, name: str, trace) -> None:
    view.get_by_role("button", name=name, exact=True).click()
    seed = f"· seed {trace.seed}"  # each run has its own
    view.wait_for_function("seed => document.querySelector('.rv-settings').textContent.endsWith(seed)", arg=seed)
    view.wait_for_selector(".rv-region:not(.rv-running)")


def go_to(view, index: int) -> None:
    view.locator(".rv-token").nth(index).click()


def watch(view, index: int, token_id: int) -> None:
    go_to(view, index)
    view.locator(".rv-watch-choice").select_option(str(token_id))
    view.get_by_role("button", name="Watch", exact=True).click()


def lines(view) -> list[dict]:
    return view.evaluate(
        "document.querySelector('.rv-lines').data.map(({mode, line, x, y, text}) => ({mode, dash: line?.dash, x, y, text}))"
    )


def mark(view) -> float:
    return view.evaluate("document.querySelector('.rv-lines').layout.shapes[0].x0") - 1


def along(trace, token_id: int) -> list[tuple[float | None, float | None, bool]]:
    """p_big, p_small and whether it is below the bars kept, at every position."""
    found = []
    for position in trace.positions:
        frame = bar_frame(position)
        if token_id not in frame["ids"]:
            found.append((None, None, True))
            continue
        at = frame["ids"].index(token_id)
        if "target" in frame:
            found.append((frame["target"][at], None, False))
        else:
            overlap = frame["overlap"][at]
            found.append((overlap + frame["residual"][at], overlap + frame["excess"][at], False))
    return found


def assert_drawn(view, trace, tokens: list[int], floor: float = 0.0) -> None:
    drawn = lines(view)
    assert len(drawn) == 4 * len(tokens) + 1  # big, small, gaps and name of each; and what the pointer finds
    for row, token in enumerate(tokens):
        big, small, below, name = drawn[4 * row : 4 * row + 4]
        wanted = along(trace, token)
        assert big["x"] == small["x"] == list(range(1, len(wanted) + 1))
        assert big["y"] == pytest.approx([p if p is None else max(p, floor) for p, _, _ in wanted])
        assert small["y"] == pytest.approx([q if q is None else max(q, floor) for _, q, _ in wanted])
        assert [x + 0.5 for x in below["x"][::3]] == pytest.approx([i + 1 for i, at in enumerate(wanted) if at[2]])
        assert set(below["y"][::3]) <= {row}
        assert small["dash"] and not big["dash"] and name["mode"] == "text"


@pytest.mark.parametrize("name", ["recorded", "made"])
def test_the_lines_are_the_bars_of_every_position(view, name):
    trace = WHOLE[name]
    shown(view, name)
    assert view.locator(".rv-lines").is_hidden()
    rejected, bonus = (next(i for i, p in enumerate(trace.positions) if p.kind == kind) for kind in ("replaced", "bonus"))
    places = (0, rejected, rejected, bonus)
    tokens = [trace.positions[at].token_id for at in places]
    tokens[1] = trace.positions[rejected].draft_id
    for index, token in zip(places, tokens):
        watch(view, index, token)
    gaps = [at for token in tokens for at in along(trace, token)]
    assert any(below for *_, below in gaps) and any(p is not None and q is None for p, q, _ in gaps)
    assert_drawn(view, trace, tokens)
    view.get_by_role("button", name="log", exact=True).click()
    assert_drawn(view, trace, tokens, floor=LOG_FLOOR)
    view.get_by_role("button", name="linear", exact=True).click()
    assert_drawn(view, trace, tokens)


def test_the_choice_lists_the_bars_of_the_position_that_are_not_watched(view):
    shown(view, "recorded")
    frame = bar_frame(RECORDED.positions[0])
    choice = view.locator(".rv-watch-choice")
    assert choice.locator("option").all_text_contents() == frame["labels"][:-1]
    assert choice.input_value() == str(RECORDED.positions[0].token_id)
    watch(view, 0, frame["ids"][1])
    assert choice.locator("option").all_text_contents() == [frame["labels"][0], *frame["labels"][2:-1]]


def test_a_click_on_the_lines_goes_to_that_position(view):
    shown(view, "recorded")
    watch(view, 0, RECORDED.positions[0].token_id)
    area = view.locator(".rv-lines .nsewdrag").first
    area.scroll_into_view_if_needed()
    box, before = area.bounding_box(), len(view.requests)
    for at in (40, 120, 80):
        x = box["x"] + view.evaluate("at => document.querySelector('.rv-lines')._fullLayout.xaxis.d2p(at + 1)", at)
        view.mouse.click(x, box["y"] + box["height"] / 3)
        view.wait_for_function("at => document.querySelectorAll('.rv-token')[at].ariaPressed === 'true'", arg=at)
        assert mark(view) == at
        view.wait_for_timeout(100)
        assert area.bounding_box()["y"] == pytest.approx(box["y"], abs=1)  # it doesn't move under the pointer
    view.keyboard.press("ArrowRight")
    assert mark(view) == told(view)[0] == at + 1
    assert view.requests[before:] == []


def test_a_fifth_token_is_refused_and_a_removed_one_makes_room(view):
    shown(view, "made")
    ids = bar_frame(MADE.positions[0])["ids"][:6]
    for token in ids[:5]:
        watch(view, 0, token)
    assert view.locator(".rv-chip").count() == 4
    said = view.get_by_role("status").filter(has_text="At most 4 tokens")
    assert said.count() == 1
    label = token_label(next(c for c in MADE.positions[0].candidates if c.id == ids[1]).text, ids[1])
    view.get_by_role("button", name=f"Stop watching ‘{label}’", exact=True).click()
    assert said.count() == 0 and view.evaluate("document.activeElement.ariaLabel").startswith("Stop watching")
    watch(view, 0, ids[5])
    assert_drawn(view, MADE, [ids[0], ids[2], ids[3], ids[5]])
    colors = view.locator(".rv-chip .rv-stroke").evaluate_all("all => all.map((one) => one.style.color)")
    assert len(set(colors)) == 4


def test_watched_tokens_stay_while_a_run_grows_and_another_comes_but_not_with_another_vocabulary(view):
    shown(view, "made")
    tokens = bar_frame(MADE.positions[0])["ids"][:2]
    for token in tokens:
        watch(view, 0, token)
    run_shown(view, "grow", GROWN)
    count = len(GROWN.positions)
    view.wait_for_function("count => document.querySelector('.rv-lines').data[0].x.length === count", arg=count)
    assert_drawn(view, GROWN, tokens)
    run_shown(view, "same vocabulary", SAME_VOCABULARY)
    assert view.locator(".rv-chip").count() == 2
    assert_drawn(view, SAME_VOCABULARY, tokens)
    run_shown(view, "other vocabulary", OTHER_VOCABULARY)
    view.wait_for_selector(".rv-chip", state="detached")
    assert view.locator(".rv-lines").is_hidden()


TOLD = """[[...document.querySelectorAll('.rv-token')].findIndex((token) => token.ariaPressed === 'true'),
           document.querySelector('.rv-find-said').textContent]"""


def told(view) -> tuple[int, str]:
    """The selected position, and what is said of what was found."""
    return tuple(view.evaluate(TOLD))


def find(view, text: str, *keys: str) -> list[tuple[int, str]]:
    """Where each key leads, and what is said of it."""
    box = view.get_by_label(t("run_view.find.text"))
    box.fill(text)
    led = []
    for key in keys:
        box.press(key)
        led.append(told(view))
    return led


def places_of(trace, text: str) -> list[int]:
    """The positions in whose text `text` begins, looked up in the whole answer; a space is any blank."""
    emitted = [(index, p.text) for index, p in enumerate(trace.positions) if p.kind != "discarded"]
    owners = [index for index, piece in emitted for _ in piece]
    answer, wanted = re.sub(r"\s", " ", trace.output.text.lower()), text.lower()
    starts = [at for at in range(len(answer)) if answer.startswith(wanted, at)]
    return sorted({owners[at] for at in starts})


def test_a_text_is_found_across_tokens_one_after_the_other_and_around_the_end(view):
    shown(view, "recorded")
    emitted = [p for p in RECORDED.positions if p.kind != "discarded"]
    across = emitted[4].text[-2:] + emitted[5].text + emitted[6].text[:2]
    for text in (across, "THE"):
        places = places_of(RECORDED, text)
        go_to(view, 0)
        count = len(places)
        around = find(view, text, *["Enter"] * (count + 1))
        assert around == [(places[i % count], f"{i % count + 1} of {count}") for i in range(count + 1)]
        back = find(view, text, "Shift+Enter", "Shift+Enter")
        assert [index for index, _ in back] == [places[0], places[-1]]
    assert len(places_of(RECORDED, across)) == 1
    assert emitted[4] is RECORDED.positions[places_of(RECORDED, across)[0]]


def test_what_is_not_there_is_not_found_and_moves_nothing(view):
    shown(view, "recorded")
    go_to(view, 3)
    assert find(view, "no such text", "Enter", "Shift+Enter") == [(3, "not found")] * 2
    assert find(view, "(", "Enter") == [(3, "not found")]
    find(view, "", "Enter")
    assert view.locator(".rv-find-said").inner_text() == "" and told(view)[0] == 3
    assert view.get_by_role("button", name=t("run_view.find.next")).is_disabled()


def test_hostile_and_split_texts_are_found_where_they_are(view):
    shown(view, "made")
    for text in (*HOSTILE, "🦄", "{{X}} 日本"):
        if text.strip() and "\r" not in text:
            places = places_of(MADE, text)
            at = next((place for place in places if place >= told(view)[0]), places[0])
            assert find(view, text, "Enter") == [(at, f"{places.index(at) + 1} of {len(places)}")], text


def walk(view, kind: str, steps: int) -> list[tuple[int, str]]:
    """Where so many presses on a button lead, and what is said of it."""
    press = "([button, steps]) => Array.from({length: steps}, () => { document.querySelector(button).click(); return %s; })"
    return view.evaluate(press % TOLD, [f".rv-find-{kind}", steps])


def test_rejections_wasted_rounds_and_the_least_overlap_are_those_of_the_trace(view):
    shown(view, "recorded")
    firsts, wasted = 0, []
    for round_ in RECORDED.rounds:
        if round_.drafted and not round_.accepted:
            wasted.append(firsts)
        firsts += len(round_.positions)
    expected = {
        "rejection": [i for i, p in enumerate(RECORDED.positions) if p.kind == "replaced"],
        "wasted": wasted,
        "worst": worst_places(RECORDED),
    }
    assert expected["rejection"][0] > 0 and len(expected["rejection"]) > len(wasted) > 8
    for kind, places in expected.items():
        count = len(places)
        go_to(view, 0 if kind == "worst" else places[-4] + 1)  # those in reading order go on from where one is
        ranks = [*range(count), 0] if kind == "worst" else [count - 3, count - 2, count - 1, *range(4)]
        led = walk(view, kind, len(ranks))
        assert [at for at, _ in led] == [places[rank] for rank in ranks], kind
        for (at, said), rank in zip(led, ranks):
            overlap = said.partition(": β ")[2]
            assert said == t(f"run_view.find.said.{kind}", rank=rank + 1, count=count, overlap=overlap)
            assert kind != "worst" or float(overlap) == pytest.approx(RECORDED.positions[at].overlap, rel=0.06)
    view.keyboard.press("ArrowRight")
    assert view.locator(".rv-find-said").inner_text() == ""


def test_a_run_without_such_places_says_so(view):
    shown(view, "made")
    assert walk(view, "wasted", 1) == [[0, t("run_view.find.none.wasted")]]


def test_four_watched_tokens_fit_on_a_phone(view):
    shown(view, "made")
    for token in bar_frame(MADE.positions[0])["ids"][:4]:
        watch(view, 0, token)
    view.set_viewport_size({"width": 375, "height": 800})
    view.wait_for_function("document.querySelector('.rv-lines').layout.width < 375")
    assert view.evaluate("document.documentElement.scrollWidth") <= 375
    view.set_viewport_size({"width": 1280, "height": 900})
