"""Several drafts for one place, on the page: its numbers are the engine's, and they follow a hand without a request."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402
import numpy as np  # noqa: E402

from tests.sections import unfold  # noqa: E402
from visualizations.why_exact import playground  # noqa: E402
from visualizations.why_exact.bars import checked_bars, preset_value  # noqa: E402

DRAFTS = (1, 2, 3, 4)
HALF_A_DIGIT = 0.00051
FILES = Path(playground.__file__).parent


COARSE = {
    "tokens": [
        {"name": "x", "q": 410, "p": 120, "agree": 1},
        {"name": "y", "q": 230, "p": 393, "agree": 1},
        {"name": "all other", "q": 360, "p": 487, "agree": 0.2},
    ],
    "unit": 1000,
    "source": "loaded",
}


@contextmanager
def shown(value):
    with gr.Blocks() as demo:
        playground.Playground(value, elem_id="playground")
    _, address, _ = demo.launch(prevent_thread_lock=True, quiet=True, run_history=False)
    yield address
    demo.close()


@pytest.fixture(scope="module")
def url():
    with shown(preset_value("five")) as address:
        yield address


@pytest.fixture
def bars(page, url):
    page.goto(url)
    unfold(page, "typed-numbers")
    unfold(page, "candidates")
    page.wait_for_selector(".pg-cand-bars .pg-column")
    page.wait_for_selector(".pg-formula .katex")
    return page


def expected(target: np.ndarray, draft: np.ndarray) -> dict[str, list[float]]:
    """How often each scheme keeps a draft, at [k - 1]; the limits by brute force over all sets of tokens."""
    pytest.importorskip("scipy")
    from specdec.exactness import candidates
    from specdec.exactness.outcomes import law_of

    kept = {
        name: [law_of(candidates.SCHEMES[name](target, draft, k))[1] for k in DRAFTS]
        for name in ("fixed_children", "without_replacement")
    }
    kept["with_replacement"] = [candidates.kept_with_replacement(target, draft, k) for k in DRAFTS]
    kept["k_seq"] = [candidates.kept_by_k_seq(target, draft, k) for k in DRAFTS]
    for kind in ("independent", "different"):
        kept[f"transport_{kind}"] = [bound_of(kind, target, draft, k).limit for k in DRAFTS]
    return kept


def bound_of(kind: str, target: np.ndarray, draft: np.ndarray, k: int):
    from specdec.exactness import candidates

    drafts = {"independent": candidates.independent_drafts, "different": candidates.different_drafts}[kind]
    return candidates.transport_bound(target, drafts(draft, k))


def laws_on_screen(page) -> tuple[np.ndarray, np.ndarray]:
    small, big = (page.locator(f".pg-table tbody tr td:nth-child({place}) input").all() for place in (2, 3))
    tokens = [{"name": "x", "q": float(q.input_value()), "p": float(p.input_value())} for q, p in zip(small, big)]
    laws = checked_bars({"tokens": tokens})
    return np.array(laws.p_big), np.array(laws.p_small)


def table_on_screen(page) -> dict[str, list[str]]:
    return {
        row.get_attribute("data-scheme"): row.locator(".pg-cand-cell b").all_text_contents()
        for row in page.locator(".pg-cand-row[data-scheme]").all()
    }


def framed(page) -> list[str]:
    return page.locator(".pg-cand-tight .pg-cand-name").all_text_contents()


def assert_engine_numbers(page) -> None:
    told, wanted = table_on_screen(page), expected(*laws_on_screen(page))
    assert set(told) == set(wanted)
    for scheme, values in wanted.items():
        assert [float(text) for text in told[scheme]] == pytest.approx(values, abs=HALF_A_DIGIT), scheme


def drag(page, selector: str, column: int, up: float) -> None:
    page.locator(selector).nth(column).scroll_into_view_if_needed()
    box = page.locator(selector).nth(column).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for part in range(1, 11):
        page.mouse.move(x, y - up * part / 10)
    page.wait_for_timeout(100)


def test_the_functions_of_the_page_are_the_engines(page):
    """At full precision, on laws of 3 to 8 tokens, with zeros, equal ones and none in common."""
    made = np.random.default_rng(0)
    pairs = [made.dirichlet(np.ones(size), 2) for size in (3, 4, 5, 6, 8)]
    pairs[1][1][[0, 2]] = 0
    pairs[2][0][3] = 0
    pairs = [pair / pair.sum(1, keepdims=True) for pair in pairs]
    edges = ([[0.5, 0.3, 0.2]] * 2, [[0, 0.4, 0.6], [1, 0, 0]], [[0.25] * 4, [0.1, 0.2, 0.3, 0.4]])
    pairs += [np.array(edge) for edge in edges]
    source = "".join((FILES / name).read_text("utf-8") for name in ("laws.js", "candidate_laws.js"))
    script = f"(pairs) => {{ {source}; return pairs.map(([p, q]) => candidatesOf(p, q)); }}"
    found = page.evaluate(script, [pair.tolist() for pair in pairs])
    for (target, draft), numbers in zip(pairs, found, strict=True):
        assert numbers["off"] < 1e-9
        for scheme, values in expected(target, draft).items():
            assert numbers["kept"][scheme] == pytest.approx(values, abs=1e-9), scheme
        for kind, bounds in numbers["bounds"].items():
            for k, bound in zip(DRAFTS, bounds, strict=True):
                wanted = bound_of(kind, target, draft, k)
                assert [x for x in range(len(target)) if bound["tight"] >> x & 1] == list(wanted.tight)
                assert (bound["wanted"], bound["offered"]) == pytest.approx((wanted.wanted, wanted.offered), abs=1e-9)


def test_the_worked_example(bars):
    told = table_on_screen(bars)
    assert told["with_replacement"][:3] == ["0.700", "0.760", "0.808"]
    assert told["without_replacement"][:3] == ["0.700", "0.788", "0.890"]
    assert told["k_seq"][:3] == ["0.700", "0.791", "0.859"]
    assert told["fixed_children"][:3] == ["0.250", "0.400", "0.500"]
    assert told["transport_independent"][:3] == ["0.700", "0.860", "0.971"]
    assert told["transport_different"][:3] == ["0.700", "0.929", "1.000"]
    assert framed(bars) == ["B", "D", "E"]
    assert bars.locator(".pg-cand-set").text_content().endswith("S = ‘B’, ‘D’, ‘E’.")
    why = bars.locator(".pg-cand-why").text_content()
    assert all(number in why for number in ("0.640", "0.500", "0.140", "0.860"))
    order = bars.locator(".pg-cand-order").text_content()
    assert "K-SEQ keeps more with k = 2." in order and "without replacement keeps more with k = 3, 4." in order
    assert "0.000000000" in bars.locator(".pg-cand-law").text_content()


@pytest.mark.parametrize("chart, up", [(".pg-bars", 50), (".pg-cand-bars", 25)])
def test_dragging_updates_the_numbers_without_a_request(bars, chart, up):
    before, told, laws = len(bars.requests), table_on_screen(bars), laws_on_screen(bars)
    drag(bars, f"{chart} .pg-column", 2, up)
    assert len(bars.requests) == before
    assert table_on_screen(bars) != told
    assert not np.allclose(laws_on_screen(bars)[1], laws[1])
    assert_engine_numbers(bars)
    bars.mouse.up()


def test_eight_tokens(bars):
    for _ in range(3):
        bars.click(".pg-add")
    assert bars.locator(".pg-cand-bars .pg-column").count() == 16
    drag(bars, ".pg-bars .pg-column", 4, 30)
    bars.mouse.up()
    assert_engine_numbers(bars)


def test_the_choice_frames_the_tight_set(bars):
    """By keyboard: each k and each way to draw, and what it frames."""
    target, draft = laws_on_screen(bars)
    for kind in ("independent", "different"):
        bars.locator(f'[data-kind="{kind}"]').press("Enter")
        for k in DRAFTS:
            button = bars.locator(f'.pg-cand-choice [data-k="{k}"]')
            button.press("Enter")
            assert button.get_attribute("aria-pressed") == "true"
            bound = bound_of(kind, target, draft, k)
            assert framed(bars) == ["ABCDE"[token] for token in bound.tight]
            marks = bars.locator(".pg-cand-framed").all_text_contents()
            assert [i for i, mark in enumerate(marks) if mark] == list(bound.tight)
            assert bars.locator(".pg-cand-set").is_visible() == bool(bound.tight)
            if bound.tight:
                assert f"{bound.limit:.3f}" in bars.locator(".pg-cand-why").text_content()


def test_the_keyboard_moves_a_bar_of_this_part(bars):
    column = bars.locator('.pg-cand-bars [role="slider"]').first
    column.focus()
    bars.keyboard.press("PageUp")
    bars.wait_for_timeout(100)
    assert column.get_attribute("aria-valuenow") == "0.20"
    assert_engine_numbers(bars)


def test_names_are_data(bars):
    hostile = "<img src=x>{set}"
    field = bars.locator(".pg-rename").nth(1)
    field.fill(hostile)
    field.blur()
    bars.wait_for_timeout(100)
    assert hostile in bars.locator(".pg-cand-set").text_content()
    assert bars.locator("#playground img").count() == 0
    assert bars.locator(".pg-cand-set bdi").count() == 3
    for node in [*bars.locator(".pg-cand-set bdi").all(), *bars.locator(".pg-cand-name").all()]:
        assert node.get_attribute("translate") == "no"


def test_all_other_is_two_tokens(page):
    """Of the rest of the vocabulary only the part with too much can be over-offered, and the page says so."""
    with shown(COARSE) as address:
        page.goto(address)
        unfold(page, "candidates")
        page.wait_for_selector(".pg-cand-bars .pg-column")
        cells = checked_bars(COARSE)
        target, draft = np.array(cells.p_big), np.array(cells.p_small)
        assert len(target) == 4
        for scheme, values in expected(target, draft).items():
            assert [float(text) for text in table_on_screen(page)[scheme]] == pytest.approx(values, abs=HALF_A_DIGIT)
        bound = bound_of("independent", target, draft, 2)
        assert [cells.names[token] for token in bound.tight] == page.locator(".pg-cand-set bdi").evaluate_all(
            "(nodes) => nodes.map((node) => node.textContent.slice(1, -1))"
        )
        why = page.locator(".pg-cand-why").text_content()
        assert all(f"{mass:.4f}" in why for mass in (bound.wanted, bound.limit))
        assert "two tokens" in page.locator(".pg-cand-coarse").text_content()


@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_is_wider_than_the_page(bars, width):
    bars.set_viewport_size({"width": width, "height": 800})
    bars.wait_for_timeout(300)
    assert bars.evaluate("document.documentElement.scrollWidth") <= width
    for cell in bars.locator(".pg-cand-cell b").all():
        assert cell.evaluate("(node) => node.scrollWidth <= node.parentElement.clientWidth")
