"""The tab "Step through" in Chromium with the real models: each test is one thing that a person does."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from gradio_client import Client  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

from specdec.models.pairs import Pair  # noqa: E402
from specdec.trace.trace import Trace  # noqa: E402
from tests.launched import launched, only  # noqa: E402
from tests.loaded import until_loaded  # noqa: E402
from tests.typing_in import type_in  # noqa: E402
from visualizations.step_through.examples import examples, recorded_trace  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
FIRST = recorded_trace(examples()[0])


@pytest.fixture(scope="module")
def gate() -> threading.Event:
    """The models of the app load once it is set."""
    return threading.Event()


@pytest.fixture(scope="module")
def app_url(default_pair: Pair, gate: threading.Event) -> Iterator[str]:
    load = only(default_pair)
    with launched(lambda choice, progress: gate.wait(PATIENCE) and load(choice, progress)) as url:
        yield url


def open_page(page: Page, url: str) -> Page:
    """The page, opened, with the recorded run on screen."""
    page.set_default_timeout(PATIENCE)  # a run keeps all cores busy
    page.goto(url)
    expect(page.locator("#run-view")).to_contain_text(f"{len(FIRST.rounds)} rounds")
    return page


@pytest.fixture
def opened(page: Page, app_url: str) -> Page:
    return open_page(page, app_url)


@pytest.fixture(scope="module")
def refusing(shared_page: Page, app_url: str) -> Page:
    """A page for what is refused, which leaves the recorded run on screen."""
    return open_page(shared_page, app_url)


@pytest.fixture
def ready(opened: Page, gate: threading.Event) -> Page:
    """The page when the models are loaded."""
    gate.set()
    until_loaded(opened)
    return opened


def line(page: Page) -> Any:
    return page.locator("#run-line")


def whole(page: Page) -> None:
    """Wait until the view has all of a run that is over: the line above it may say so before."""
    expect(page.locator("#run-view .rv-running")).to_have_count(0)


def set_number(page: Page, label: str, value: str) -> None:
    type_in(page.locator("#settings").get_by_label(f"number input for {label}"), value)


def open_settings(page: Page) -> None:
    page.get_by_role("button", name=t("app.settings")).first.click()
    expect(page.locator("#settings").get_by_text(t("app.gamma.label"))).to_be_visible()


def test_opening_shows_a_recorded_run_while_the_models_load(opened: Page, gate: threading.Event) -> None:
    if gate.is_set():
        pytest.skip("another test has loaded the models already")
    expect(opened.locator("#models-line")).to_contain_text("Loading")
    opened.locator("#run-view [role=group] button, #run-view button").first.wait_for()
    expect(opened.locator("#run-view .js-plotly-plot")).to_be_visible()


def test_run_draws_round_by_round_until_it_is_over(ready: Page) -> None:
    ready.fill("#prompt textarea", "Name three colours.")
    ready.click("#run")
    expect(line(ready)).to_contain_text("Running")
    expect(line(ready)).to_contain_text("Finished")
    expect(ready.locator("#run-view")).to_contain_text("R2")


def test_stop_ends_the_run_and_keeps_what_was_decoded(ready: Page) -> None:
    open_settings(ready)
    set_number(ready, t("app.max_new_tokens.label"), "512")
    ready.fill("#prompt textarea", "Tell me a very long story about a ship.")
    ready.click("#run")
    expect(line(ready)).to_contain_text("Running")
    ready.click("#stop")
    expect(line(ready)).to_contain_text(t("app.stopped"))
    whole(ready)
    view = ready.locator("#run-view .rv")  # its frame holds Gradio's clock too, which nobody sees
    shown = view.inner_text()
    ready.wait_for_timeout(1500)
    assert view.inner_text() == shown
    assert "R1" in shown


def saved_trace(page: Page, path: Any) -> Trace:
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(path)
    return Trace.from_json(path.read_bytes())


def rounds_on_screen(page: Page) -> list[list[str]]:
    """The kinds of the tokens of each round."""
    kinds = "box => [...box.querySelectorAll('.rv-token')].map(t => t.className.match(/rv-(accepted|replaced|bonus|plain|discarded)/)[1])"
    return page.evaluate(f"[...document.querySelectorAll('#run-view .rv-round')].map({kinds})")


def test_the_strip_is_the_trace_while_a_run_goes_on_and_when_it_is_stopped_or_over(ready: Page, tmp_path: Any) -> None:
    open_settings(ready)
    set_number(ready, t("app.max_new_tokens.label"), "512")
    ready.fill("#prompt textarea", "Tell me a very long story about a ship.")
    ready.click("#run")
    expect(line(ready)).to_contain_text("Running")
    ready.wait_for_function("document.querySelectorAll('#run-view .rv-round').length > 3")
    growing = saved_trace(ready, tmp_path / "growing.json")
    assert growing.output.stop_reason == "cancelled" and growing.prompt.text.startswith("Tell me")
    ready.click("#stop")
    expect(line(ready)).to_contain_text(t("app.stopped"))
    whole(ready)
    stopped = saved_trace(ready, tmp_path / "stopped.json")
    drawn = rounds_on_screen(ready)
    assert drawn == [[position.kind for position in round_.positions] for round_ in stopped.rounds]
    assert [r.positions for r in stopped.rounds[: len(growing.rounds)]] == [r.positions for r in growing.rounds]
    set_number(ready, t("app.max_new_tokens.label"), "24")
    ready.click("#run")
    expect(line(ready)).to_contain_text("Finished")
    whole(ready)
    finished = saved_trace(ready, tmp_path / "finished.json")
    assert rounds_on_screen(ready) == [[position.kind for position in round_.positions] for round_ in finished.rounds]
    assert ready.locator("#run-view .rv-output").evaluate("node => node.textContent") == finished.output.text


def test_the_trace_of_the_run_on_screen_can_be_saved_and_opened_again(ready: Page, tmp_path: Any) -> None:
    ready.fill("#prompt textarea", "Say <b>hello</b> ${x}")
    ready.click("#run")
    expect(line(ready)).to_contain_text("Finished")
    with ready.expect_download() as download:
        ready.click("#download")
    path = tmp_path / "trace.json"
    download.value.save_as(path)
    trace = Trace.from_json(path.read_bytes())
    assert trace.prompt.text == "Say <b>hello</b> ${x}"
    ready.reload()
    until_loaded(ready)
    ready.locator("#upload").locator("xpath=..").locator("input[type=file]").set_input_files(path)
    expect(line(ready)).to_contain_text(t("app.uploaded", emitted=trace.metrics.emitted))
    expect(ready.locator("#prompt textarea")).to_have_value(trace.prompt.text)
    expect(ready.locator("#run-view")).to_contain_text(f"{len(trace.rounds)} rounds")


def ask_for_nothing(page: Page) -> None:
    page.fill("#prompt textarea", "")
    page.click("#run")
    expect(line(page)).to_contain_text("prompt is empty")


def test_an_empty_prompt_is_refused_and_the_run_on_screen_stays(refusing: Page) -> None:
    ask_for_nothing(refusing)
    expect(refusing.locator("#run-view")).to_contain_text(f"{len(FIRST.rounds)} rounds")


@pytest.mark.parametrize("content", [b"{}", b"\x89PNG\x00\xff", b'{"schema": "<img src=x onerror=alert(1)>"}'])
def test_a_file_that_is_no_trace_is_refused_in_a_sentence(refusing: Page, content: bytes) -> None:
    ask_for_nothing(refusing)  # the line tells of something else
    upload = refusing.locator("#upload").locator("xpath=..").locator("input[type=file]")
    upload.set_input_files({"name": "trace.json", "mimeType": "application/json", "buffer": content})
    expect(line(refusing)).to_contain_text("This is not a specdec-trace/2 file")
    expect(refusing.locator("#run-view")).to_contain_text(f"{len(FIRST.rounds)} rounds")


def test_an_example_fills_in_the_form_and_shows_its_recorded_run(opened: Page) -> None:
    example = examples()[1]
    opened.get_by_role("button", name=t(f"app.examples.{example.key}"), exact=True).click()
    expect(opened.locator("#prompt textarea")).to_have_value(example.prompt)
    expect(opened.locator("#run-view")).to_contain_text(f"{len(recorded_trace(example).rounds)} rounds")


def test_a_custom_pair_shows_two_boxes_and_refuses_a_path(refusing: Page) -> None:
    refusing.fill("#prompt textarea", FIRST.prompt.text)
    open_settings(refusing)
    refusing.get_by_label(t("app.pair.label")).click()
    refusing.get_by_role("option", name=t("app.pair.custom")).click()
    refusing.get_by_label(t("app.target.label")).fill("/etc/passwd")
    refusing.click("#run")
    expect(line(refusing)).to_contain_text("target must be a Hub id")


def test_a_second_visitor_runs_beside_the_first_and_stops_alone(ready: Page, app_url: str) -> None:
    other = Client(app_url, verbose=False)
    job = other.submit("Once upon a time", max_new_tokens=512, temperature=2.0, chat=False, api_name="/decode")
    while not any(output["emitted"] for output in job.outputs()):
        ready.wait_for_timeout(50)
    ready.click("#run")
    expect(line(ready)).to_contain_text("Running")
    ready.click("#stop")
    expect(line(ready)).to_contain_text(t("app.stopped"))
    before = job.outputs()[-1]["emitted"]
    while not job.done() and job.outputs()[-1]["emitted"] == before:
        ready.wait_for_timeout(50)
    assert not job.done(), "the other's run went on"
    job.cancel()


def test_a_closed_tab_frees_the_models(ready: Page, app_url: str) -> None:
    open_settings(ready)
    set_number(ready, t("app.max_new_tokens.label"), "512")
    set_number(ready, t("app.temperature.label"), "2")
    ready.click("#run")
    expect(line(ready)).to_contain_text("Running")
    ready.context.new_page()
    ready.close()
    other = Client(app_url, verbose=False)
    trace = other.submit("Hello", max_new_tokens=4, chat=False, api_name="/decode").result(timeout=20)
    assert json.dumps(trace)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(page: Page, app_url: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(app_url)
    expect(page.locator("#run-view")).to_contain_text("rounds")
    open_settings(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
