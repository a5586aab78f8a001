"""The run view in Chromium: each test is one thing that a person does with it."""

from __future__ import annotations

import os
from functools import partial

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402

from specdec.settings import BIASED_RULES, RULES  # noqa: E402
from specdec.trace.growing import Step  # noqa: E402
from tests.made_trace import HOSTILE, ended_trace, greedy_trace, made_trace, of_itself, stopped_trace  # noqa: E402
from visualizations.figures.token_bars import bar_frame, traces_of, x_axis_of  # noqa: E402
from visualizations.step_through.run_view import (  # noqa: E402
    RunView,
    ShownRun,
    empty_value,
    new_run,
    run_view_value,
)
from visualizations.text import t  # noqa: E402

TRACE = made_trace()
COUNT = len(TRACE.positions)
ROUNDS = len(TRACE.rounds)
WHOLE = {
    "greedy": greedy_trace(),
    "ended": ended_trace(),
    "ended block": ended_trace(rule="block"),
    "stopped early": stopped_trace(),
    "itself": of_itself(greedy_trace(), "bfloat16"),
    "itself exactly": of_itself(greedy_trace(), "float32"),
    **{rule: made_trace(rule=rule) for rule in RULES},
}


def grow(until=ROUNDS - 1):
    """A new run, which sends its rounds one by one."""
    run = ShownRun(TRACE, new_run())
    yield empty_value(run.run, running=True), run
    for round_ in TRACE.rounds[:until]:
        run.add(Step(round_, "cancelled"))
        yield run.since(len(run) - 1), run


def grow_unseen(run, *, by=2):
    """The run goes on, and only the last of its new rounds is sent."""
    for round_ in TRACE.rounds[len(run) :][:by]:
        run.add(Step(round_, "cancelled"))
    return run.since(len(run) - 1), run


def finish(run):
    for round_ in TRACE.rounds[len(run) :]:
        run.add(Step(round_, "length"))
    run.end()
    return run.since(ROUNDS - 1), run


def stop(run):
    run.end()
    return run.since(len(run)), run


def hurry(end):
    """A run that is over before the eye can follow it."""
    for value, run in grow():
        yield value, run
    yield end(run)


HURRIED = {"hurry to the end": finish, "hurry and stop": stop}


@pytest.fixture(scope="module")
def url():
    with gr.Blocks() as demo:
        gr.Textbox(label="typed", interactive=True)
        view, run = RunView(run_view_value(TRACE)), gr.State(None)
        view.fill_gaps_from(run)
        quiet = {"show_progress": "hidden"}
        for name, trace in WHOLE.items():
            gr.Button(name).click(lambda trace=trace: run_view_value(trace), None, view, **quiet)
        gr.Button("empty").click(lambda: empty_value(new_run(), running=False), None, view, **quiet)
        gr.Button("grow").click(grow, None, [view, run], **quiet)
        for name, end in HURRIED.items():
            gr.Button(name).click(partial(hurry, end), None, [view, run], **quiet)
        gr.Button("half").click(partial(grow, 3), None, [view, run], **quiet)
        gr.Button("unseen").click(grow_unseen, run, [view, run], **quiet)
        gr.Button("finish").click(finish, run, [view, run], **quiet)
        with gr.Tabs():
            gr.Tab("first")
            with gr.Tab("later"):  # what is in it is drawn when it is opened
                other, other_run = RunView(elem_id="later"), gr.State(None)
                other.fill_gaps_from(other_run)
        gr.Button("half unseen").click(partial(grow, 3), None, [other, other_run], **quiet)
        gr.Button("finish the other").click(finish, other_run, [other, other_run], **quiet)
    _, address, _ = demo.launch(prevent_thread_lock=True, quiet=True, run_history=False)
    yield address
    demo.close()


@pytest.fixture
def view(page, url):
    return opened(page, url)


def opened(page, url, theme="light"):
    page.goto(f"{url}?__theme={theme}")
    page.wait_for_selector(".rv-bars .main-svg")
    return page


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def place(page) -> str:
    return page.locator(".rv-place").inner_text()


def sentence(page) -> str:
    return page.locator(".rv-sentence").inner_text()


def test_opens_at_the_first_rejection_and_tells_it_in_numbers(view):
    assert view.locator(".rv-title").inner_text() == "Round 1, draft 2 of 3: rejected"
    told = sentence(view)
    assert told.startswith("p_small gave ‘␣blue’ 0.41, p_big 0.12, so it is kept with probability 0.29; the coin was 0.63: rejected.")
    assert "The replacement ‘␣clear’ was drawn from the residual, where it had" in told


def test_arrow_keys_walk_through_the_positions(view):
    press(view, "Home", "ArrowLeft")
    view.locator(".rv-token").first.click()
    assert place(view) == f"position 1 of {COUNT}"
    press(view, "ArrowRight", "ArrowRight")
    assert place(view) == f"position 3 of {COUNT}"
    press(view, "ArrowLeft")
    assert place(view) == f"position 2 of {COUNT}"


def test_arrow_keys_work_before_anything_is_clicked(view):
    press(view, "ArrowRight")
    assert place(view) == f"position 3 of {COUNT}"


def test_home_and_end_jump_to_the_ends(view):
    view.locator(".rv-token").nth(3).click()
    press(view, "End")
    assert place(view) == f"position {COUNT} of {COUNT}"
    press(view, "Home")
    assert place(view) == f"position 1 of {COUNT}"


def test_shift_and_an_arrow_walk_through_the_rounds(view):
    view.locator(".rv-token").first.click()
    press(view, "Shift+ArrowRight")
    assert view.locator(".rv-title").inner_text().startswith("Round 2,")
    press(view, "Shift+ArrowRight", "Shift+ArrowRight", "ArrowRight", "Shift+ArrowLeft")
    assert view.locator(".rv-title").inner_text().startswith("Round 4, draft 1")
    press(view, "Shift+ArrowLeft")
    assert view.locator(".rv-title").inner_text().startswith("Round 3:")


def test_typing_in_a_text_box_moves_nothing(view):
    view.get_by_label("typed").fill("text")
    press(view, "ArrowLeft", "Home")
    assert place(view) == f"position 2 of {COUNT}"


def test_clicking_a_token_selects_it_alone(view):
    view.locator(".rv-token").nth(4).click()
    pressed = view.locator(".rv-token[aria-pressed=true]")
    assert pressed.count() == 1
    assert pressed.get_attribute("aria-label").startswith("token 4, ‘␣light’, bonus token")
    assert view.locator(".rv-strip [tabindex='0']").count() == 1


def test_buttons_walk_too_and_are_large_enough_for_a_finger(view):
    for name in ("Next position", "Previous position", "Next round", "Previous round"):
        box = view.get_by_role("button", name=name).bounding_box()
        assert box["height"] >= 44 and box["width"] >= 40
    view.get_by_role("button", name="Next position").click()
    assert place(view) == f"position 3 of {COUNT}"


def test_play_walks_by_itself_until_a_key_is_pressed(view):
    press(view, "ArrowLeft")
    view.get_by_role("button", name="Play").click()
    view.wait_for_function("document.querySelector('.rv-place').textContent.startsWith('position 3')")
    press(view, "ArrowLeft")
    assert view.get_by_role("button", name="Play").count() == 1


def test_stepping_and_scaling_ask_the_server_nothing(view):
    view.wait_for_timeout(1000)  # what the page asks for when it opens
    before = len(view.requests)
    press(view, *["ArrowRight"] * (COUNT - 2))
    view.get_by_role("button", name="log", exact=True).click()
    view.wait_for_timeout(300)
    assert view.requests[before:] == []


def test_the_sentence_is_read_out_when_it_changes(view):
    live = view.locator(".rv [aria-live=polite]")
    assert live.count() == 1
    before = live.inner_text()
    press(view, "ArrowRight")
    assert live.inner_text() != before


def test_every_kind_of_position_is_explained(view):
    seen = []
    press(view, "ArrowLeft")
    for _ in range(6):
        seen.append((view.locator(".rv-title").inner_text(), sentence(view), view.locator(".rv-coin").inner_text()))
        press(view, "ArrowRight")
    assert "{" not in str(seen) and "undefined" not in str(seen) and "NaN" not in str(seen)
    assert "kept whatever the coin" in seen[0][1]
    assert "thrown away without a test" in seen[2][1] and "never tested" in seen[2][2]
    assert "the coin was 0.20: kept" in seen[3][1]
    assert "sampled from p_big" in seen[4][1] and "bonus token" in seen[4][2]
    assert seen[5][0].endswith("the target's own token")


def test_the_residual_shows_where_the_replacement_fell(view):
    drawn = view.locator(".rv-residual .rv-drawn")
    assert drawn.locator(".rv-residual-label").inner_text() == "␣clear"
    told = sentence(view).split("where it had ")[1].split(" ")[0]
    assert drawn.locator(".rv-residual-number").inner_text() == told
    press(view, "ArrowRight")
    assert view.locator(".rv-residual").is_hidden()


def test_temperature_zero_and_sample_and_match_have_their_own_words(view):
    view.get_by_role("button", name="greedy").click()
    view.wait_for_function("document.querySelector('.rv-sentence').textContent.includes('temperature 0')")
    view.get_by_role("button", name="match", exact=True).click()
    view.wait_for_function("document.querySelector('.rv-sentence').textContent.includes('Sample and match')")
    assert "so it is kept with" not in sentence(view)
    assert "drawn from p_big without ‘␣blue’, where it had 0.23" in sentence(view)


def test_every_rule_is_explained_in_its_own_words(view):
    for rule in RULES:
        name = t(f"run_view.rules.{rule}")
        view.get_by_role("button", name=rule, exact=True).click()
        view.wait_for_function("name => document.querySelector('.rv-settings').textContent.includes(name)", arg=name)
        press(view, "Home", "ArrowLeft", "ArrowLeft")
        for _ in range(5):
            told = sentence(view) + view.locator(".rv-coin").inner_text()
            assert not [fault for fault in ("{", "undefined", "NaN", "null", "none") if fault in told], told
            press(view, "ArrowRight")
        press(view, "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")  # the rejection
        assert view.locator(".rv-residual").is_visible() == (rule not in ("block", "raw_draft", "argmax_draft"))
        if rule in BIASED_RULES:
            assert name in sentence(view) and "changes the distribution" in sentence(view)


def shown_run(view, name: str, settings: str) -> None:
    view.get_by_role("button", name=name, exact=True).click()
    view.wait_for_function("part => document.querySelector('.rv-settings').textContent.includes(part)", arg=settings)


def test_a_draft_behind_the_end_is_called_so_everywhere(view):
    for name, settings in (("ended", "seed 11"), ("ended block", "block verification")):
        shown_run(view, name, settings)
        last = view.locator(".rv-token.rv-discarded").last
        last.click()
        assert "the answer ended before it" in sentence(view)
        for told in (last.get_attribute("aria-label"), last.get_attribute("title"), view.locator(".rv-title").inner_text()):
            assert "rejection" not in told and "not tested" not in told, told
        assert "behind the end of the answer" in last.get_attribute("aria-label")
    assert "behind the end" in view.locator(".rv-fates").inner_text()


def test_it_says_why_a_round_drafted_no_more_at_its_last_draft(view):
    view.get_by_role("button", name="stopped early", exact=True).click()
    view.wait_for_function("document.querySelector('.rv-settings').textContent.includes('stops above')")
    assert "γ ≤ 8" in view.locator(".rv-settings").inner_text()
    view.locator(".rv-token").first.click()
    told = []
    for _ in range(6):
        told.append(sentence(view))
        press(view, "ArrowRight")
    assert "Drafting stopped here: entropy 0.81 nats, above 0.6." in told[2]
    assert "was copied from the text so far" in told[3] and "this draft would end the text" in told[3]
    assert "there was nothing to copy" in told[5]
    assert not any("stopped" in told[index] for index in (0, 1, 4, 5))


def test_a_discarded_draft_is_called_what_its_sentence_says_under_block_verification(view):
    shown_run(view, "block", "block verification")
    discarded = view.locator(".rv-token.rv-discarded").first
    discarded.click()
    assert "last draft whose coin passed" in sentence(view)
    assert "last one whose coin passed" in discarded.get_attribute("aria-label")
    assert "rejection" not in discarded.get_attribute("aria-label")


def test_a_model_that_drafts_for_itself_in_short_numbers_is_explained(view):
    shown_run(view, "itself", "same ← same")
    note = view.locator(".rv-rounding")
    assert "0.50: bfloat16 keeps few digits" in note.inner_text() and "in float32 it is" in note.inner_text()
    view.locator(".rv-token.rv-replaced").click()
    assert "so the draft has 0" in sentence(view)
    assert "in bfloat16 a pass over one token rounds differently" in sentence(view)
    view.locator(".rv-token.rv-accepted").click()
    assert "bfloat16" not in sentence(view)
    view.get_by_role("button", name="itself exactly").click()
    note.wait_for(state="hidden")
    view.get_by_role("button", name="itself", exact=True).click()
    note.wait_for(state="visible")
    view.get_by_role("button", name="match", exact=True).click()
    note.wait_for(state="hidden")


def test_hostile_tokens_are_shown_literally(view):
    labels = view.locator(".rv-token .rv-label").all_text_contents()
    for text in HOSTILE:
        shown = {"\n": "⏎", "\t": "⇥", "\r\n": "␍⏎", " ": "␣"}.get(text, text.replace(" ", "␣"))
        assert shown in labels, text
    for index, text in enumerate(labels):
        view.locator(".rv-token").nth(index).click()
        assert text.startswith("‹") or text[:10] in sentence(view) or "🦄" in text
    assert view.locator(".rv img, .rv script, .rv-strip b").count() == 0
    view.locator(".rv-text summary").click()
    assert view.locator(".rv-output").evaluate("node => node.textContent") == TRACE.output.text
    ticks = view.evaluate("document.querySelector('.rv-bars').layout.xaxis.ticktext.join(' ')")
    assert "<" not in ticks


def test_a_split_character_is_drawn_once_and_its_parts_are_marked(view):
    parts = view.locator(".rv-token.rv-part")
    assert parts.count() == 3
    assert "".join(parts.all_text_contents()).count("🦄") == 1
    assert "bytes F0 9F" in parts.first.get_attribute("aria-label")


def test_no_token_looks_empty(view):
    assert all(text.strip() for text in view.locator(".rv-token .rv-label").all_text_contents())


def test_the_page_draws_the_same_bars_as_the_python_figure(view):
    view.locator(".rv-token").first.click()
    for position in TRACE.positions:
        frame = bar_frame(position)
        data, axis = view.evaluate(
            "() => { const b = document.querySelector('.rv-bars');"
            "return [b.data.map(t => ({x: t.x, y: t.y, base: t.base})), b.layout.xaxis]; }"
        )
        for drawn, added in zip(data, traces_of(frame), strict=True):
            assert drawn["x"] == pytest.approx(added["x"]) and drawn["y"] == pytest.approx(added["y"])
            assert drawn.get("base") == added.get("base")
        assert axis["ticktext"] == x_axis_of(frame)["ticktext"]
        press(view, "ArrowRight")


def test_log_scale_and_back(view):
    for scale in ("log", "linear"):
        view.get_by_role("button", name=scale, exact=True).click()
        assert view.evaluate("document.querySelector('.rv-bars').layout.yaxis.type") in (scale, None)
        assert view.get_by_role("button", name=scale, exact=True).get_attribute("aria-pressed") == "true"


def test_a_zoom_stays_while_stepping_until_a_double_click(view):
    top = "document.querySelector('.rv-bars')._fullLayout.yaxis.range[1]"
    view.locator(".rv-bars").scroll_into_view_if_needed()
    box = view.locator(".rv-bars .nsewdrag").first.bounding_box()
    x, bottom = box["x"] + box["width"] / 2, box["y"] + box["height"]
    whole = view.evaluate(top)
    view.mouse.move(x, bottom - 5)
    view.mouse.down()
    view.mouse.move(x + 2, bottom - 120, steps=5)
    view.mouse.up()
    view.wait_for_function(f"{top} < {whole * 0.8}")
    zoomed = view.evaluate(top)
    press(view, "ArrowLeft", "ArrowRight", "ArrowRight")
    assert view.evaluate(top) == pytest.approx(zoomed)
    press(view, "ArrowLeft")
    view.mouse.dblclick(x, bottom - 60)
    view.wait_for_function(f"{top} === {whole}")


def test_a_number_explains_itself_to_mouse_and_keyboard(view):
    alpha = view.locator(".rv-metrics .rv-number", has_text="α")
    tip = view.locator(f"#{alpha.get_attribute('aria-describedby')}")
    assert tip.is_hidden()
    alpha.focus()
    assert tip.is_visible() and "tested drafts" in tip.inner_text()
    press(view, "Escape")
    assert tip.is_hidden()
    alpha.hover()
    assert tip.is_visible()


def press_button(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def wait_for_rounds(page, count: int) -> None:
    page.wait_for_function("count => document.querySelectorAll('.rv-round').length === count", arg=count)


def shown_tokens(page) -> list[str]:
    return page.locator(".rv-token .rv-label").all_text_contents()


def test_a_growing_run_is_followed_and_does_not_blink(view):
    press_button(view, "empty")
    view.wait_for_selector(".rv-empty", state="visible")
    view.evaluate(
        "window.gone = 0; new MutationObserver(all => all.forEach(one => window.gone += one.removedNodes.length))"
        ".observe(document.querySelector('.rv-strip'), {childList: true})"
    )
    press_button(view, "grow")
    wait_for_rounds(view, ROUNDS - 1)
    view.wait_for_function("start => document.querySelector('.rv-title').textContent.startsWith(start)", arg=f"Round {ROUNDS - 1}")
    view.locator(".rv-token").nth(1).click()
    press_button(view, "finish")
    wait_for_rounds(view, ROUNDS)
    assert view.locator(".rv-title").inner_text() == "Round 1, draft 2 of 3: rejected"
    assert view.evaluate("window.gone") == 0


@pytest.mark.parametrize("name", HURRIED)
def test_what_a_run_shows_when_it_is_over_is_what_stays(view, name):
    view.evaluate("""() => {
      const region = document.querySelector('.rv-region');
      const note = () => { window.last = region.classList.contains('rv-running') ? null : region.innerText; };
      new MutationObserver(note).observe(region, {attributeFilter: ['class']});
    }""")
    press_button(view, name)
    last = view.wait_for_function("window.last").json_value()
    view.wait_for_timeout(1000)
    assert view.locator(".rv-region").first.inner_text() == last
    assert f"position {view.locator('.rv-strip').first.locator('.rv-token').count()} of" in last


def test_a_run_that_came_round_by_round_is_the_whole(view):
    whole = shown_tokens(view), view.locator(".rv-metrics").inner_text(), view.locator(".rv-settings").inner_text()
    press_button(view, "grow")
    wait_for_rounds(view, ROUNDS - 1)
    press_button(view, "finish")
    wait_for_rounds(view, ROUNDS)
    assert (shown_tokens(view), view.locator(".rv-metrics").inner_text(), view.locator(".rv-settings").inner_text()) == whole
    assert view.locator(".rv-output").evaluate("node => node.textContent") == TRACE.output.text
    view.locator(".rv-token").first.click()
    press(view, "End")
    assert place(view) == f"position {COUNT} of {COUNT}"


def test_rounds_that_never_arrived_are_asked_for(view):
    whole = shown_tokens(view)
    press_button(view, "half")
    wait_for_rounds(view, 3)
    view.locator(".rv-token").nth(1).click()
    press_button(view, "unseen")
    wait_for_rounds(view, 5)
    press_button(view, "finish")
    wait_for_rounds(view, ROUNDS)
    assert shown_tokens(view) == whole
    assert place(view) == f"position 2 of {COUNT}"


def test_a_view_that_is_first_drawn_in_the_middle_of_a_run_gets_all_of_it(view):
    whole, count = shown_tokens(view), "count => document.querySelectorAll('#later .rv-round').length === count"
    press_button(view, "half unseen")
    view.wait_for_timeout(1000)
    view.get_by_role("tab", name="later").click()
    view.wait_for_function(count, arg=3)
    press_button(view, "finish the other")
    view.wait_for_function(count, arg=ROUNDS)
    assert view.locator("#later .rv-token .rv-label").all_text_contents() == whole
    assert view.locator("#later .rv-settings").inner_text() == view.locator(".rv-settings").first.inner_text()


def test_another_run_leaves_nothing_of_the_one_before(view):
    view.locator(".rv-token").nth(3).click()
    press_button(view, "half")
    wait_for_rounds(view, 3)
    assert view.locator(".rv-output").evaluate("node => node.textContent") == "".join(
        p.text for round_ in TRACE.rounds[:3] for p in round_.positions if p.kind != "discarded"
    )
    assert view.locator(".rv-token[aria-pressed=true]").count() == 1


def test_an_empty_view_says_what_to_do(view):
    view.get_by_role("button", name="empty").click()
    view.wait_for_selector(".rv-empty", state="visible")
    assert "press Run" in view.locator(".rv-empty").inner_text()
    assert view.locator(".rv-main").is_hidden()


def test_a_phone_shows_everything_without_scrolling_sideways(page, url):
    page.set_viewport_size({"width": 375, "height": 800})
    opened(page, url)
    for key in ("Home", "ArrowRight", "ArrowRight", "End"):
        press(page, key)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.locator(".rv-metrics .rv-number").last.focus()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_dark_mode_has_light_text_on_the_bars_and_in_the_sentence(page, url):
    opened(page, url, theme="dark")
    brightness = "getComputedStyle(document.querySelector('{}')).{}.match(/[0-9]+/g).slice(0, 3).map(Number)"
    assert min(page.evaluate(brightness.format(".rv-sentence", "color"))) > 180
    assert min(page.evaluate(brightness.format(".rv-bars .xtick text", "fill"))) > 180


def test_every_control_has_a_name(view):
    nameless = "[...document.querySelectorAll('.rv button')].filter(b => !(b.getAttribute('aria-label') || b.textContent.trim()))"
    assert view.evaluate(f"{nameless}.length") == 0
