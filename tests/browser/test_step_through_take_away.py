"""Taking a run away from the tab "Step through": every file is saved as a visitor saves it, and looked into."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, Download, Page, expect  # noqa: E402

from specdec.trace.trace import Trace  # noqa: E402
from tests.made_trace import HOSTILE, made_trace  # noqa: E402
from visualizations.figures.run_figure import run_figure  # noqa: E402
from visualizations.figures.token_bars import bar_frame  # noqa: E402
from visualizations.step_through.examples import examples, recorded_trace  # noqa: E402
from visualizations.step_through.take_away.page import run_page  # noqa: E402
from visualizations.step_through.take_away.table import run_csv  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
TRACE = recorded_trace(examples()[0])
MADE = made_trace()
HEIGHTS = "document.querySelector('.js-plotly-plot').data.slice(0, 5).map((bar) => [...(bar.y || [])])"


@pytest.fixture(scope="module")
def app(shared_page: Page, app_without_models: str) -> Page:
    """The tab with its recorded run, in the dark theme."""
    shared_page.set_default_timeout(PATIENCE)
    shared_page.goto(f"{app_without_models}?__theme=dark")
    shared_page.wait_for_selector("#run-view .main-svg")
    return shared_page


def taken(page: Page, name: str) -> Download:
    """The file, chosen by its name in the list."""
    page.get_by_label(t("take_away.format")).select_option(label=t(f"take_away.formats.{name}"))
    with page.expect_download() as download:
        page.click("#download")
    return download.value


def bytes_of(download: Download) -> bytes:
    return Path(download.path()).read_bytes()


@contextmanager
def opened_offline(browser: Browser, path: Path) -> Iterator[Page]:
    """The file in a browser without a network. At the end: no error, nothing refused, nothing asked for but the file."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page, wrong, asked = context.new_page(), [], []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector(".js-plotly-plot .main-svg")
    yield page
    context.close()
    assert wrong == []
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [path.as_uri()]


def drawn(frame: dict) -> list[list[float]]:
    return [[mass or None for mass in frame[name]] for name in ("overlap", "excess", "overlap", "residual")]


def test_a_trace_a_table_and_a_page_are_saved_under_their_names(app: Page, browser: Browser, tmp_path: Path) -> None:
    trace, table, page = (taken(app, name) for name in ("json", "csv", "html"))
    assert [file.suggested_filename for file in (trace, table, page)] == ["trace.json", "run.csv", "run.html"]
    assert Trace.from_json(bytes_of(trace)) == TRACE
    assert bytes_of(table).decode("utf-8-sig") == run_csv(TRACE)
    page.save_as(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size < 6_000_000
    with opened_offline(browser, tmp_path / "run.html") as alone:
        expect(alone.locator(".rv-token")).to_have_count(len(TRACE.positions))
        assert alone.locator("#prompt").text_content() == TRACE.prompt.text
        for name in ("rv-settings", "rv-sentence", "rv-output", "rv-strip"):  # the same words as in the app
            assert alone.locator(f".{name}").text_content() == app.locator(f"#run-view .{name}").text_content()


def test_a_page_of_hostile_tokens_steps_offline_and_runs_none_of_them(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "run.html"
    path.write_text(run_page(MADE), "utf-8", newline="")
    with opened_offline(browser, path) as alone:
        alone.get_by_role("button", name=t("run_view.controls.first"), exact=True).click()
        assert alone.evaluate(HEIGHTS)[:4] == drawn(bar_frame(MADE.positions[0]))
        alone.keyboard.press("ArrowRight")
        assert alone.evaluate(HEIGHTS)[:4] == drawn(bar_frame(MADE.positions[1]))
        assert t("run_view.title.replaced", round=1, place=2, drafted=3) == alone.locator(".rv-title").text_content()
        alone.get_by_role("button", name=t("run_view.controls.next"), exact=True).click()
        assert alone.evaluate(HEIGHTS)[:4] == drawn(bar_frame(MADE.positions[2]))
        assert alone.locator("script").count() == 4 and alone.locator("img, #view b:not(.rv-fate b)").count() == 0
        assert alone.locator(".rv-output").text_content() == MADE.output.text
        labels = alone.locator(".rv-label").all_text_contents()
        shown = [text for text in HOSTILE if text.isprintable() and " " not in text]
        assert set(shown) <= set(labels)
        for text in ("<b>bold</b>", "$x^2$", "</script>", "${x}"):
            alone.locator(".rv-token").nth(labels.index(text)).click()
            with alone.expect_download() as download:
                alone.evaluate("document.dispatchEvent(new CustomEvent('specdec:picture', { detail: { format: 'svg' } }))")
            root = ElementTree.fromstring(bytes_of(download.value))
            assert f"‘{text}’" in "".join(root.itertext())
            assert {node.tag.split("}")[0] for node in root.iter()} == {"{http://www.w3.org/2000/svg"}


def test_a_notebooks_figure_steps_with_its_slider(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "figure.html"
    run_figure(MADE).write_html(path)
    with opened_offline(browser, path) as alone:
        assert alone.evaluate(HEIGHTS)[:4] == drawn(bar_frame(MADE.positions[0]))
        rail = alone.locator(".slider-rail-touch-rect")
        rail.click(position={"x": 2 + rail.bounding_box()["width"] / (len(MADE.positions) - 1), "y": 4})
        expect(alone.locator(".slider-label").first).to_contain_text("round 1, place 2")
        assert alone.evaluate(HEIGHTS)[:4] == drawn(bar_frame(MADE.positions[1]))


def squeezed(text: str) -> str:
    """Without the spaces, which go where a line ends."""
    return re.sub(r"\s", "", text)


def test_the_bars_on_screen_are_saved_as_a_picture_on_white_with_what_is_said_of_them(app: Page) -> None:
    picture = taken(app, "svg")
    place = app.locator("#run-view .rv-place").inner_text().split()[1]
    assert picture.suggested_filename == f"position-{place}.svg"
    root = ElementTree.fromstring(bytes_of(picture))
    written = squeezed("".join(root.itertext()))
    for name in ("title", "sentence", "settings"):
        assert squeezed(app.locator(f"#run-view .rv-{name}").text_content()) in written
    ground = root.find("{*}rect")
    assert (ground.get("width"), ground.get("height")) == (root.get("width"), root.get("height"))
    assert "fill:rgb(255,255,255)" in squeezed(ground.get("style"))
    assert root.get("aria-hidden") is None
    assert b"<pattern" in bytes_of(picture)
    app.get_by_role("button", name=t("run_view.controls.next"), exact=True).click()
    picture = taken(app, "png")
    assert picture.suggested_filename == f"position-{int(place) + 1}.png"
    image = Image.open(BytesIO(bytes_of(picture)))
    assert image.format == "PNG" and image.width == 1920 and 900 < image.height < 2000
    colours = image.convert("RGB").getcolors(image.width * image.height)
    assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255) == max(colours)[1]
    assert len(colours) > 50
    app.get_by_role("button", name=t("run_view.controls.previous"), exact=True).click()


def test_the_chooser_works_by_keyboard_on_a_phone(app: Page) -> None:
    app.set_viewport_size({"width": 375, "height": 800})
    assert app.evaluate("document.documentElement.scrollWidth") <= 375
    chooser, button = app.get_by_label(t("take_away.format")), app.locator("#download")
    for part in (chooser, button):
        box = part.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 375 and box["height"] >= 36
    chooser.select_option("json")
    chooser.focus()
    app.keyboard.press("ArrowDown")
    app.keyboard.press("Tab")
    expect(button).to_be_focused()
    with app.expect_download() as download:
        app.keyboard.press("Enter")
    assert download.value.suggested_filename == "run.csv"
    app.set_viewport_size({"width": 1280, "height": 900})


def test_a_picture_that_cannot_be_drawn_is_said_in_a_sentence(page: Page, app_without_models: str) -> None:
    page.route("**/plotly.min.js", lambda route: route.abort())
    page.goto(app_without_models)
    expect(page.locator("#run-view .rv-note")).to_contain_text(t("run_view.bars_missing"))
    page.get_by_label(t("take_away.format")).select_option("png")
    page.click("#download")
    expect(page.locator("#run-line")).to_contain_text(t("take_away.not_drawn"))
