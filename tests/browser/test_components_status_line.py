"""The line that says what is waited for, in Chromium."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402
from playwright.sync_api import Page, expect  # noqa: E402

from tests.launched import free_port  # noqa: E402
from visualizations.components.status_line import STEP_SECONDS, StatusLine, counting_down, status  # noqa: E402


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with gr.Blocks(analytics_enabled=False) as page:
        line = StatusLine(elem_id="line")
        gr.Button("wait").click(lambda: counting_down("about {0} s".format, 2.4 * STEP_SECONDS), None, line)
        gr.Button("begin").click(lambda: status("it runs", "busy"), None, line)
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True, server_port=free_port(), run_history=False)
    yield url
    page.close(verbose=False)


def test_the_seconds_of_a_wait_go_down_in_steps_until_it_is_over(page: Page, url: str) -> None:
    page.clock.install()
    page.goto(url)
    said = page.locator("#line p span")
    page.get_by_role("button", name="wait").click()
    expect(said).to_have_text(f"about {3 * STEP_SECONDS} s")
    for steps in (2, 1, 1):  # never less than one: it may take longer than was thought
        page.clock.fast_forward(STEP_SECONDS * 1000)
        expect(said).to_have_text(f"about {steps * STEP_SECONDS} s")
    page.get_by_role("button", name="begin").click()
    expect(said).to_have_text("it runs")
    page.clock.fast_forward(STEP_SECONDS * 1000)
    expect(said).to_have_text("it runs")
