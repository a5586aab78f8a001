"""Tab 2, "Why it is exact": bars to drag, the argument, every rule's law, and a test that can fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

import gradio as gr
from gradio.events import Dependency

from specdec.models.catalogue import CATALOGUE
from specdec.settings import EXACT_RULES, RULES, BadInput
from specdec.trace.trace import Trace
from visualizations.components.contents import Contents
from visualizations.components.folding import folded, folded_value
from visualizations.components.keeping import keep
from visualizations.components.model_events import AT_ONCE, MODEL_QUEUE, QUIET, SEED_OR_FRESH, door
from visualizations.components.table_view import TableView, table
from visualizations.components.waiting import waiting_line
from visualizations.serving.backend import Backend, Waiting, is_result
from visualizations.serving.inputs import CUSTOM, PairChoice, pair_choice
from visualizations.serving.stopping import OpenRuns
from visualizations.step_through.kept_run import trace_on_screen
from visualizations.step_through.tab import RunOnScreen
from visualizations.text import say, section, t
from visualizations.why_exact.at_once import draw_at_once, failed_test, stopped_test
from visualizations.why_exact.bars import checked_bars
from visualizations.why_exact.draws import (
    SIZES,
    DrawFromPair,
    Request,
    checked_position,
    position_index,
)
from visualizations.why_exact.playground import Playground
from visualizations.why_exact.playground.loading import load_script
from visualizations.why_exact.sampling_view import SamplingView, waiting_value
from visualizations.why_exact.tables import (
    acceptance_result,
    acceptance_table,
    kind_of,
    rule_name,
    several_result,
    several_tokens,
    today_table,
)

TAB_KEY = "why-exact"
SOURCES = ("bars", "loop", "real")
BIASED_EXAMPLE = "no_residual"

# The position that is selected in the run view, read from the page: moving through a run tells no server.
_SELECTED = (
    "Math.max(0, [...document.querySelectorAll('#run-view .rv-token')]"
    ".findIndex((token) => token.getAttribute('aria-pressed') === 'true'))"
)
_WITH_SELECTED = f"(...values) => [...values.slice(0, -1), {_SELECTED}]"
# The page itself shows that a test is wanted, which asks for it once, and fills in the seed; a test that leaves
# the queue sends nothing, so it also notes that it is over.
_WANT = f"(seed, drawn) => drawn.state === 'waiting' ? [] : [{SEED_OR_FRESH}(seed), %s]"
_SWITCH = f"""(rule, seed, drawn) => {{
  if (drawn.state === 'waiting') return [];
  const asks = %s, want = asks[drawn.source] || asks.bars;
  return [...(%s.includes(rule) ? [%s, %s] : ['token', %s]), {SEED_OR_FRESH}(seed), want];
}}"""
_REFUSED = "(drawn) => drawn.state === 'waiting' ? %s : undefined"
_DRAWN_RESULT = "(drawn) => ({result: drawn.headline, where: ''})"
_STOPPED = "(drawn) => drawn.state === 'waiting' ? {...drawn, state: 'empty', headline: %s} : drawn"


def build_exact_tab(page: gr.Blocks, tab: gr.Tab, shelf: Backend, run: RunOnScreen) -> None:
    """Create the tab inside the open `tab` of `page`. run: what the first tab shows."""
    gr.Markdown(t("exact.intro"))
    Contents(TAB_KEY, list(section("exact.contents").items()))
    with gr.Column(elem_id="argument"):
        bars = Playground(elem_id="playground")
    loaded = bars.load_selected(None, bars, bars, js=load_script(), **QUIET)

    with folded("several-tokens", t("exact.several_title")) as several_head:
        several = TableView(elem_id="several", tags=_tags())
        today = TableView(elem_id="today", tags=_tags())

    with folded("draw-and-count", t("exact.sampling_title"), folded_value(t("exact.result.not_drawn"))) as drawn_head:
        gr.Markdown(t("exact.sampling_intro"))
        rule, n, seed, buttons, switch, drawn = _sampling_parts()
    drawn.change(None, drawn, drawn_head, js=_DRAWN_RESULT, **QUIET)

    with folded("your-run", t("exact.acceptance_title")) as accepted_head:
        accepted = TableView(elem_id="acceptance", tags=_tags())
    selected = gr.Number(0, visible=False, elem_id="selected-position")
    questions = section("exact.questions")
    with folded("questions", t("exact.questions_title"), folded_value(t("exact.result.questions", n=len(questions)))):
        for question in questions:
            with gr.Accordion(question["q"], open=False):
                gr.Markdown(question["a"])

    asks = {source: _wanted(source) for source in SOURCES}
    for source, want in asks.items():
        buttons[source].click(None, [seed, drawn], [seed, drawn], js=_WANT % json.dumps(want), **QUIET)
    names = [json.dumps(t(f"exact.sampling.{key}")) for key in ("switch_back", "switch")]
    script = _SWITCH % (json.dumps(asks), json.dumps(EXACT_RULES), json.dumps(BIASED_EXAMPLE), *names)
    switch.click(None, [rule, seed, drawn], [rule, switch, seed, drawn], js=script, **QUIET)
    draws = OpenRuns()
    draws.stop_when_left(page)
    for source in ("bars", "loop"):
        ask = getattr(drawn, asks[source]["ask"])
        ask(draws.call(partial(draw_at_once, source)), [rule, n, seed, bars], drawn, **AT_ONCE)
    real = _on_ask_real(shelf, draws, drawn, [rule, n, seed, run.trace, selected])

    def halt(request: gr.Request) -> None:
        draws.stop(request.session_hash)

    halted = buttons["stop"].click(halt, **AT_ONCE)
    halted.then(None, drawn, drawn, js=_STOPPED % json.dumps(t("exact.sampling.stopped")), cancels=[real], **QUIET)

    bars.release(_today, bars, today, trigger_mode="always_last", **AT_ONCE)
    loaded.then(_today, bars, today, **AT_ONCE)
    shown = [several_head, several, today, accepted_head, accepted]
    tab.select(_tables, [bars, run.trace, selected], shown, js=_WITH_SELECTED, **AT_ONCE)
    keep(page, "bars and test", [rule, n, seed, bars])


def _wanted(source: str) -> dict[str, Any]:
    """The value of a `SamplingView` that asks for a test."""
    words = t("app.your_turn" if source == "real" else "exact.sampling.drawing")
    return waiting_value(words, source=source) | {"ask": f"ask_{source}"}


def _on_ask_real(shelf: Backend, draws: OpenRuns, drawn: SamplingView, inputs: list[Any]) -> Dependency:
    """The event of the test that needs the models: in their queue, one for each visitor."""
    work = draws.handler(partial(_draw_real, shelf))
    asked = drawn.ask_real(work, inputs, drawn, js=_WITH_SELECTED, validator=door(draws), **QUIET, **MODEL_QUEUE)
    refused = waiting_value(t("app.line.full"), "fault", "real")
    asked.failure(None, drawn, drawn, js=_REFUSED % json.dumps(refused), **QUIET)
    return asked


def _sampling_parts() -> tuple[gr.Dropdown, gr.Radio, gr.Number, dict[str, gr.Button], gr.Button, SamplingView]:
    with gr.Row():
        rule = gr.Dropdown(
            [(f"{rule_name(key)} ({t(f'exact.playground.{kind_of(key)}')})", key) for key in RULES],
            value="token",
            label=t("exact.sampling.rule"),
            info=t("exact.sampling.rule_info"),
            interactive=True,
            elem_id="test-rule",
        )
        sizes = [(f"{size:,}", size) for size in SIZES]
        n = gr.Radio(sizes, value=SIZES[-1], label=t("exact.sampling.n"), interactive=True, elem_id="test-n")
        seed = gr.Number(0, precision=0, minimum=0, label=t("exact.sampling.seed"), interactive=True, min_width=90)
    with gr.Row(elem_classes="exact-buttons"):
        buttons = {
            key: gr.Button(
                t(f"exact.sampling.draw_{key}"),
                variant="primary" if key == "bars" else "secondary",
                min_width=180,
                elem_id=f"draw-{key}",
            )
            for key in ("bars", "loop", "real")
        }
        buttons["stop"] = gr.Button(t("exact.sampling.stop"), min_width=100, elem_id="draw-stop")
        switch = gr.Button(t("exact.sampling.switch"), min_width=180, elem_id="switch-rule")
    return rule, n, seed, buttons, switch, SamplingView(elem_id="sampling")


def _tags() -> dict[str, str]:
    words = section("exact.playground")
    return {"exact": words["exact"], "biased": words["biased"]}


def _draw_real(
    shelf: Backend, stop: threading.Event, rule: Any, n: Any, seed: Any, held: Any, index: Any
) -> Iterator[dict[str, Any]]:
    """Test the real pair at a position of the run."""
    try:
        request, run = Request.checked(rule, n, seed), trace_on_screen(held)
        place = checked_position(run, index)
        work = DrawFromPair(run, place, request)
        event = None
        with closing(shelf.using(_pair_of(run), work, stop)) as events:
            for event in events:
                if is_result(event):
                    yield event
                elif isinstance(event, Waiting):
                    words = t("exact.sampling.models") if event.begun else waiting_line(event)["text"]
                    yield waiting_value(words, source="real")
        if event is None or isinstance(event, Waiting):
            yield stopped_test("real")
    except Exception as fault:
        yield failed_test(fault, "real")


def _today(bars: Any) -> dict[str, Any]:
    try:
        return {"tables": today_table(checked_bars(bars))}
    except BadInput as refusal:
        return _refused(refusal)


def _tables(bars: Any, held: Any, index: Any) -> tuple[dict[str, Any], ...]:
    try:
        run = trace_on_screen(held)
        accepted = {"tables": acceptance_table(run, position_index(run, index))}
        kept = folded_value(acceptance_result(run))
    except BadInput as refusal:
        accepted, kept = _refused(refusal), folded_value()
    return folded_value(several_result()), {"tables": several_tokens()}, _today(bars), kept, accepted


def _refused(refusal: BadInput) -> dict[str, Any]:
    return {"tables": [table((), (), intro=say(refusal.phrase))]}


def _pair_of(trace: Trace) -> PairChoice:
    """The choice that loads the models of a trace again; a path on this machine never passes."""
    info = trace.pair
    if info.name in CATALOGUE:
        return PairChoice(info.name)
    try:
        return pair_choice(CUSTOM, info.target, info.draft)
    except BadInput:
        raise BadInput(t("exact.bad.no_models", pair=info.name[:80])) from None

