"""The exactness tab in Chromium: each test is one thing that a person does with it."""

from __future__ import annotations

import os
import re

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402

from specdec.exactness.acceptance import POSITION_RULES  # noqa: E402
from specdec.settings import RULES, Settings  # noqa: E402
from tests.made_trace import HOSTILE, made_trace  # noqa: E402
from tests.sections import link_to, open_section  # noqa: E402
from visualizations.demo import launch_options  # noqa: E402
from visualizations.serving.shelf import ModelShelf  # noqa: E402
from visualizations.step_through.examples import examples, recorded_trace  # noqa: E402
from visualizations.step_through.kept_run import KeptRun, kept  # noqa: E402
from visualizations.step_through.run_view import RunView, run_view_value  # noqa: E402
from visualizations.step_through.tab import RunOnScreen  # noqa: E402
from visualizations.text import t  # noqa: E402
from visualizations.why_exact.bars import PRESETS, RAW_DRAFT_TOP_K, Bars, checked_bars, preset_value  # noqa: E402
from visualizations.why_exact.playground.loading import load_script  # noqa: E402
from visualizations.why_exact.tab import build_exact_tab  # noqa: E402

NUMBER = re.compile(r"\d+\.\d+")
SECTIONS = ("typed-numbers", "mass-flow", "every-rule", "several-tokens", "draw-and-count", "your-run")  # folded
TRACE = made_trace()
REDRAW_MS = 50  # a frame takes 17 on a quiet machine; a slow one must still follow the hand
KEPT = recorded_trace(examples()[0])


@pytest.fixture(scope="module")
def url():
    with gr.Blocks() as demo:
        with gr.Tabs():
            with gr.Tab("run"):
                view = RunView(run_view_value(TRACE), elem_id="run-view")
            with gr.Tab("exact") as tab:
                build_exact_tab(demo, tab, ModelShelf(_no_models), RunOnScreen(view, KeptRun(kept(KEPT, "a run"))))
    demo.queue()
    _, address, _ = demo.launch(prevent_thread_lock=True, quiet=True, **launch_options())
    yield address
    demo.close()


def _no_models(choice, progress):
    from specdec.settings import BadInput

    raise BadInput("No models here.")


@pytest.fixture
def tab(page, url):
    return open_tab(page, url)


@pytest.fixture(scope="module")
def open_for_all(shared_page, url):
    return open_tab(shared_page, url)


@pytest.fixture
def bars(open_for_all):
    """The tab that many share, with the bars and the step that it opens with."""
    open_for_all.locator("#playground").evaluate("(node) => node.scrollIntoView({ behavior: 'instant' })")
    open_for_all.click('[data-preset="article"]')
    choose_step(open_for_all, 1)
    return open_for_all


def open_tab(page, url):
    page.goto(url)
    page.get_by_role("tab", name="exact").click()
    page.wait_for_selector("#playground .pg-column")
    for section in SECTIONS:
        open_section(page, section)
    link_to(page, "argument").click()
    page.wait_for_selector("#acceptance table, #acceptance p")
    page.wait_for_selector(".pg-formula .katex")
    return page


def numbers(page, selector: str) -> list[str]:
    return NUMBER.findall(" ".join(page.locator(selector).all_text_contents()))


def table(page, name: str) -> list[str]:
    return page.locator(f".pg-cell-{name}").all_text_contents()


def typed(page, which: str) -> list[str]:
    return [field.input_value() for field in page.locator(f".pg-table tbody tr td:nth-child({which}) input").all()]


def choose_step(page, step: int) -> None:
    page.click(f'.pg-step-button[data-step="{step - 1}"]')


def drag(page, column: int, up: float) -> None:
    box = page.locator(".pg-column").nth(column).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for part in range(1, 11):
        page.mouse.move(x, y - up * part / 10)
    page.wait_for_timeout(60)


def bars_on_screen(page) -> Bars:
    small, big = typed(page, "2"), typed(page, "3")
    return checked_bars({"tokens": [{"name": "x", "q": float(q), "p": float(p)} for q, p in zip(small, big)]})


def expected_laws(bars: Bars) -> dict[str, tuple[str, str]]:
    torch = pytest.importorskip("torch")
    from specdec.exactness.laws import closed_form, total_variation

    p, q = torch.tensor(bars.p_big, dtype=torch.float64), torch.tensor(bars.p_small, dtype=torch.float64)
    likeliest = {"raw_draft": RAW_DRAFT_TOP_K, "argmax_draft": 1}
    laws = {}
    for rule in RULES:
        cut = q.clone()
        cut[q.sort(descending=True, stable=True).indices[likeliest.get(rule, len(q)) :]] = 0
        drafted, told = (cut / cut.sum(), q) if rule in likeliest else (q, None)
        law, acceptance = closed_form(Settings(rule=rule), p, drafted, told)
        laws[rule] = (f"{acceptance:.3f}", f"{total_variation(law, p):.3f}")
    return laws


def laws_on_screen(page) -> dict[str, tuple[str, ...]]:
    return {
        row.get_attribute("data-rule"): tuple(row.locator(".pg-meter b").all_text_contents())
        for row in page.locator(".pg-law[data-rule]").all()
    }


def close(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """The same printed digits, up to a tie in the last one that two languages round differently."""
    return all(abs(float(a) - float(b)) < 0.00101 for a, b in zip(one, other, strict=True))


def test_the_six_steps_print_the_numbers_of_the_bars(bars):
    drag(bars, 0, 37)
    bars.mouse.up()
    bars.wait_for_timeout(200)
    q, p = typed(bars, "2"), typed(bars, "3")
    overlap, excess, residual = (table(bars, name) for name in ("overlap", "excess", "residual"))
    sums = {name: bars.locator(f".pg-sum-{name}").text_content() for name in ("overlap", "excess", "residual")}
    assert bars.locator(".pg-bars .pg-q .pg-value").all_text_contents() == q
    assert bars.locator(".pg-bars .pg-p .pg-value").all_text_contents() == p
    whole = sum(map(float, q))
    assert whole == pytest.approx(1) and sums["excess"] == sums["residual"]
    assert float(sums["overlap"]) + float(sums["excess"]) == pytest.approx(1)
    for step, terms, total in ((1, q, "1.00"), (2, overlap, sums["overlap"]), (3, excess, sums["excess"]), (4, residual, sums["residual"])):
        choose_step(bars, step)
        assert numbers(bars, ".pg-formula .katex-html") == [*terms, total], step
    choose_step(bars, 2)
    rows = [NUMBER.findall(text) for text in bars.locator(".pg-row-sum").all_text_contents()]
    assert [row[0] for row in rows] == q and [row[-1] for row in rows] == overlap
    assert sums["overlap"] in bars.locator(".pg-step-text").text_content()
    choose_step(bars, 5)
    assert sums["residual"] in numbers(bars, ".pg-formula .katex-html")
    rows = [NUMBER.findall(text) for text in bars.locator(".pg-row-sum").all_text_contents()]
    assert [row[0] for row in rows] == [sums["excess"]] * len(q) and [row[-1] for row in rows] == residual
    choose_step(bars, 6)
    rows = [NUMBER.findall(text) for text in bars.locator(".pg-row-sum").all_text_contents()]
    assert rows == [list(row) for row in zip(overlap, residual, p)]


def test_each_step_points_at_its_bars(bars):
    for step, lit, dim in ((2, "overlap", "excess"), (3, "excess", "overlap"), (4, "residual", "excess")):
        choose_step(bars, step)
        bars.wait_for_timeout(250)
        opacity = lambda name: float(  # noqa: E731
            bars.locator(f".pg-segment.pg-is-{name}").first.evaluate("(node) => getComputedStyle(node).opacity")
        )
        assert opacity(lit) == 1 and opacity(dim) < 0.3


def test_dragging_asks_nobody_and_keeps_the_sum(tab):
    before = len(tab.requests)
    drag(tab, 1, 60)
    assert len(tab.requests) == before
    assert tab.locator(".pg-q .pg-value").first.text_content() != "0.30" or tab.locator(".pg-p .pg-value").first.text_content() != "0.40"
    assert tab.locator(".pg-sum-p").text_content() == tab.locator(".pg-sum-q").text_content() == "1.00"
    tab.mouse.up()
    tab.wait_for_timeout(1000)
    assert len(tab.requests) > before  # after the release the server counts the several-token table anew


@pytest.fixture
def phone(browser, url):
    """The tab on a phone of 375 px, with a finger."""
    context = browser.new_context(viewport={"width": 375, "height": 700}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(url)
    page.get_by_role("tab", name="exact").click()
    page.wait_for_selector("#playground .pg-column")
    yield page
    context.close()


def swipe(page, selector: str, up: float) -> None:
    """A finger goes down in the middle of the first match and moves up by `up` px."""
    place = page.locator(selector).first
    place.evaluate("node => node.scrollIntoView({ block: 'center' })")
    box = place.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = page.context.new_cdp_session(page)
    touch = lambda kind, points: session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})  # noqa: E731
    touch("touchStart", [{"x": x, "y": y}])
    for part in range(1, 16):
        touch("touchMove", [{"x": x, "y": y - up * part / 15}])
        page.wait_for_timeout(16)
    touch("touchEnd", [])
    page.wait_for_timeout(300)


def test_a_finger_that_swipes_over_the_columns_scrolls(phone):
    for selector in (".pg-column.pg-q", ".pg-column.pg-p", ".pg-name"):
        for up in (150, -150):
            before = phone.locator(".pg-value").all_text_contents()
            phone.locator(selector).first.evaluate("node => node.scrollIntoView({ block: 'center' })")
            start = phone.evaluate("scrollY")
            swipe(phone, selector, up)
            assert phone.locator(".pg-value").all_text_contents() == before
            assert (phone.evaluate("scrollY") - start) * up > 50 * abs(up)


def test_a_finger_drags_a_column_by_its_grip(phone):
    before = phone.locator(".pg-value").all_text_contents()
    grip = phone.locator(".pg-grip").first
    grip.evaluate("node => node.scrollIntoView({ block: 'center' })")
    box = grip.bounding_box()
    assert box["height"] >= 44 and box["width"] >= 24
    swipe(phone, ".pg-grip", 60)
    after = phone.locator(".pg-value").all_text_contents()
    assert float(after[0]) > float(before[0]) + 0.05
    assert phone.locator(".pg-sum-q").text_content() == "1.00"
    assert abs(grip.bounding_box()["y"] - box["y"]) < 3  # nothing scrolled


def test_a_mouse_needs_no_grip(bars):
    assert bars.locator(".pg-grip").first.is_hidden()


def test_a_redraw_takes_a_few_frames_at_most(tab):
    """Script, style and layout of one redraw, in milliseconds, over a drag of 60 moves.

    The browser's clock goes on while other programs have the core, so the best of a few drags counts.
    """
    names = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable")
    redraws = lambda: int(tab.locator("[data-redraws]").get_attribute("data-redraws"))  # noqa: E731

    def spent() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * sum(metric["value"] for metric in metrics if metric["name"] in names)

    def each_of_a_drag() -> float:
        box = tab.locator(".pg-column").nth(2).bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        tab.mouse.move(x, y)
        tab.mouse.down()
        count, before = redraws(), spent()
        for move in range(60):
            tab.mouse.move(x, y - 1.5 * move)
        each = (spent() - before) / (redraws() - count)
        tab.mouse.up()
        tab.click('[data-preset="article"]')
        return each

    drags: list[float] = []
    while not drags or (min(drags) >= REDRAW_MS and len(drags) < 5):
        drags.append(each_of_a_drag())
    assert min(drags) < REDRAW_MS, drags


def test_the_laws_while_dragging_are_the_engines(tab):
    drag(tab, 3, 45)
    bars = bars_on_screen(tab)
    shown, expected = laws_on_screen(tab), expected_laws(bars)
    tab.mouse.up()
    assert set(shown) == set(expected)
    assert all(close(shown[rule], expected[rule]) for rule in RULES), (shown, expected)


@pytest.mark.parametrize("key", PRESETS)
def test_presets(bars, key):
    bars.click(f'[data-preset="{key}"]')
    expected_bars = checked_bars(preset_value(key))
    assert typed(bars, "2") == [f"{mass:.2f}" for mass in expected_bars.p_small]
    assert typed(bars, "3") == [f"{mass:.2f}" for mass in expected_bars.p_big]
    shown, expected = laws_on_screen(bars), expected_laws(expected_bars)
    assert all(close(shown[rule], expected[rule]) for rule in RULES), (shown, expected)
    assert bars.locator(f'[data-preset="{key}"]').get_attribute("aria-pressed") == "true"


def test_the_keyboard_moves_a_column(bars):
    column = bars.locator('.pg [role="slider"]').first
    assert column.get_attribute("aria-valuenow") == "0.30"
    column.focus()
    for key, value in (("ArrowUp", "0.31"), ("ArrowDown", "0.30"), ("PageUp", "0.40"), ("End", "1.00"), ("Home", "0.00")):
        bars.keyboard.press(key)
        bars.wait_for_timeout(60)
        assert column.get_attribute("aria-valuenow") == value
    assert bars.locator(".pg-sum-q").text_content() == "1.00"


def test_typing_a_number_scales_the_others(bars):
    field = bars.locator(".pg-table tbody tr td:nth-child(3) input").first
    field.fill("0.7")
    field.press("Enter")
    field.blur()
    assert typed(bars, "3") == ["0.70", "0.10", "0.20", "0.00"]


def test_tokens_come_and_go(bars):
    bars.click(".pg-add")
    assert bars.locator(".pg-group").count() == 5
    for _ in range(5):
        bars.locator(".pg-add").click(force=True)
    assert bars.locator(".pg-group").count() == 8
    assert bars.locator(".pg-add").is_disabled()
    while bars.locator(".pg-group").count() > 3:
        bars.locator(".pg-remove").last.click()
    assert bars.locator(".pg-remove").first.is_disabled()
    assert bars.locator(".pg-sum-p").text_content() == "1.00"


def test_mass_flow_carries_the_rejected_mass(bars):
    moved = bars.locator(".pg-band-moved")
    masses = [float(band.get_attribute("data-mass")) for band in moved.all()]
    assert sum(masses) == pytest.approx(0.35)
    assert moved.count() == 4  # two tokens with excess, two with residual


def test_the_selected_token_is_loaded_without_a_request(tab):
    tab.get_by_role("tab", name="run").click()
    tab.locator("#run-view .rv-token.rv-replaced").first.click()
    tab.get_by_role("tab", name="exact").click()
    tab.wait_for_timeout(500)
    before = [url for url in tab.requests if "queue/join" in url]
    tab.click('[data-preset="loaded"]')
    tab.wait_for_selector('[data-preset="loaded"][aria-pressed="true"]')
    assert tab.locator(".pg-sum-p").text_content() == tab.locator(".pg-sum-q").text_content() == "1.000"
    index = int(re.search(r"Position (\d+)", tab.locator(".pg-source").text_content())[1]) - 1
    position = TRACE.positions[index]
    assert float(tab.locator(".pg-sum-overlap").text_content()) == pytest.approx(position.overlap, abs=0.004)
    after = [url for url in tab.requests if "queue/join" in url]
    assert len(after) <= len(before) + 1  # only the table of several tokens asks the server, once the bars are there


def test_a_name_is_only_a_text(bars):
    for text in HOSTILE if isinstance(HOSTILE, (list, tuple)) else ["<img src=x onerror=alert(1)>", "${x}", "{{x}}"]:
        field = bars.locator(".pg-rename").first
        field.fill(str(text)[:24])
        field.blur()
        wanted = field.input_value()
        assert bars.locator(".pg-name").first.text_content() == wanted
    assert bars.locator("#playground img").count() == 0


def test_a_long_name_is_cut_between_characters(bars):
    field = bars.locator(".pg-rename").first
    field.fill(12 * "🦄")
    field.blur()
    assert bars.locator(".pg-name").first.text_content() == field.input_value() == 12 * "🦄"
    assert bars.locator(".pg-flow-label").first.text_content().startswith(f"‘{8 * '🦄'}…’")


def test_a_loaded_name_is_cut_between_characters(tab):
    frame = {"ids": [1, 2, None], "labels": [23 * "x" + "🦄🦄", "b", "other"]}
    masses = {"overlap": [0.5, 0.1, 0.1], "excess": [0.3, 0, 0], "residual": [0, 0.2, 0.1]}
    call = """([load, frame]) => {
      for (const token of document.querySelectorAll("#run-view .rv-token")) token.frame = frame;
      return eval(load)({});
    }"""
    loaded = tab.evaluate(call, [load_script(), frame | masses])
    assert loaded["tokens"][0]["name"] == 23 * "x" + "🦄"
    checked_bars(loaded)


@pytest.mark.parametrize("name", ["\u3164", "\u2800\u2800", "\u200b", "  ", "\ufe0f\u034f"], ids=ascii)
def test_a_name_that_nobody_could_see_is_not_taken(bars, name):
    field = bars.locator(".pg-rename").first
    before = field.input_value()
    field.fill(name)
    field.blur()
    assert bars.locator(".pg-name").first.text_content() == field.input_value() == before


def test_the_exact_rule_passes_and_a_biased_one_fails(tab):
    tab.get_by_label("10,000", exact=True).check()
    tab.click("#draw-bars")
    tab.wait_for_selector("#sampling .sv-passed")
    text = tab.locator("#sampling .sv-lines").text_content()
    assert "degrees of freedom" in text and "p-value" in text and "10,000 times" in text and "w = " in text
    tab.wait_for_selector("#sampling .js-plotly-plot .barlayer path")
    tab.click("#switch-rule")
    tab.wait_for_selector("#sampling .sv-failed")
    assert t("exact.playground.biased") in tab.locator("#sampling .sv-headline").text_content()
    tab.click("#switch-rule")
    tab.wait_for_selector("#sampling .sv-passed")


def test_the_whole_loop_can_be_drawn_from(tab):
    tab.click("#draw-loop")
    tab.wait_for_selector('#sampling .sv-passed[data-source="loop"]', timeout=60_000)


def test_a_fault_is_told_in_words(tab):
    tab.click("#draw-real")
    tab.wait_for_selector("#sampling .sv-fault-state")
    assert tab.locator("#sampling .sv-headline").text_content()


def test_several_tokens_and_acceptance_are_there(tab):
    text = tab.locator("#several").text_content()
    assert "10/9" in text and "11/9" in text
    rows = tab.locator("#acceptance tbody tr")
    assert rows.count() == len(POSITION_RULES)
    assert f"{KEPT.metrics.accepted} of {KEPT.metrics.tested}" in tab.locator("#acceptance").text_content()


@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_is_wider_than_the_page(tab, width):
    tab.set_viewport_size({"width": width, "height": 800})
    for preset in ("article", "loaded"):
        tab.click(f'[data-preset="{preset}"]')
        tab.wait_for_timeout(400)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
