"""A run that is begun again elsewhere, in Chromium: nothing of what was there before stays among its rounds."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr  # noqa: E402
from playwright.sync_api import expect  # noqa: E402

from specdec.trace.growing import Step  # noqa: E402
from tests.made_trace import made_trace  # noqa: E402
from visualizations.step_through.run_view import RunView, ShownRun, empty_value, mark_again, new_run  # noqa: E402

PATIENCE = 60_000
GONE, WHOLE = made_trace(seed=21), made_trace(seed=22)


def joined(run, rounds):
    for round_ in rounds:
        run.add(Step(round_, "length"))
        yield run.since(len(run) - 1), run


def anew():
    """From its first round on, on a machine that rounds otherwise."""
    run = ShownRun(GONE, new_run())
    yield empty_value(run.run, running=True), run
    yield from joined(run, GONE.rounds[:2])
    run = ShownRun(WHOLE, run.run, again=mark_again(0))
    yield from joined(run, WHOLE.rounds)
    run.end()
    yield run.since(len(run)), run


def from_the_middle():
    """Its first two rounds are from before."""
    run = ShownRun(WHOLE, new_run())
    yield from joined(run, WHOLE.rounds[:2])
    yield from joined(run, GONE.rounds[:1])
    run = run.begun_again(mark_again(2))
    yield run.since(2), run
    yield from joined(run, WHOLE.rounds[2:])
    run.end()
    yield run.since(len(run)), run


@pytest.fixture(scope="module")
def address():
    with gr.Blocks() as demo:
        view, live = RunView(), gr.State()
        view.fill_gaps_from(live)
        for make in (anew, from_the_middle):
            gr.Button(make.__name__).click(make, None, [view, live], show_progress="hidden")
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, run_history=False)
    yield url
    demo.close(verbose=False)


@pytest.mark.parametrize("way", ["anew", "from_the_middle"])
def test_the_view_has_the_second_run_alone(shared_page, address, way):
    shared_page.goto(address)
    expect(shared_page.locator(".rv-round")).to_have_count(0)
    shared_page.get_by_role("button", name=way, exact=True).click()
    expect(shared_page.locator(".rv-round")).to_have_count(len(WHOLE.rounds), timeout=PATIENCE)
    expect(shared_page.locator(".rv-running")).to_have_count(0, timeout=PATIENCE)
    assert shared_page.locator(".rv-output").text_content().endswith(WHOLE.output.text)
