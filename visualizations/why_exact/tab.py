"""Tab 2, "Why it is exact": bars to drag, the argument, every rule's law, and a test that can fail."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from functools import partial
from typing import Any

import gradio as gr

from specdec.models.pairs import CATALOGUE
from specdec.settings import EXACT_RULES, RULES, BadInput
from specdec.trace.trace import Trace
from visualizations.components.table_view import TableView, table
from visualizations.serving.inputs import CUSTOM, PairChoice, pair_choice
from visualizations.serving.runner import ModelShelf, Waiting
from visualizations.step_through.live_run import waiting_line
from visualizations.step_through.run_view import ShownRun
from visualizations.step_through.tab import MODEL_QUEUE, QUIET, RunOnScreen, shown_trace
from visualizations.text import section, t
from visualizations.why_exact.bars import checked_bars
from visualizations.why_exact.draws import (
    SIZES,
    Request,
    checked_position,
    draw_from_bars,
    draw_from_pair,
    draw_with_loop,
    position_index,
)
from visualizations.why_exact.playground import Playground
from visualizations.why_exact.playground.loading import load_script
from visualizations.why_exact.sampling_view import SamplingView, waiting_value
from visualizations.why_exact.tables import acceptance_table, kind_of, rule_name, several_tokens, today_table

TABLES: dict[str, Any] = {"concurrency_limit": 2, "concurrency_id": "tables"}
BIASED_EXAMPLE = "no_residual"
_LOG = logging.getLogger(__name__)

# The position that is selected in the run view, read from the page: moving through a run tells no server.
_SELECTED = (
    "Math.max(0, [...document.querySelectorAll('#run-view .rv-token')]"
    ".findIndex((token) => token.getAttribute('aria-pressed') === 'true'))"
)
_WITH_SELECTED = f"(...values) => [...values.slice(0, -1), {_SELECTED}]"
_SWITCH = """(rule) => %s.includes(rule) ? [%s, %s] : ['token', %s]"""


def build_exact_tab(tab: gr.Tab, shelf: ModelShelf, run: RunOnScreen) -> None:
    """Create the tab inside the open `tab`. run: what the first tab shows."""
    gr.Markdown(t("exact.intro"))
    bars = Playground(elem_id="playground")
    loaded = bars.load_selected(None, bars, bars, js=load_script(), **QUIET)

    gr.Markdown(t("exact.several_title"))
    several = TableView(elem_id="several", tags=_tags())
    today = TableView(elem_id="today", tags=_tags())

    gr.Markdown(f"{t('exact.sampling_title')}\n{t('exact.sampling_intro')}")
    rule, n, seed, buttons, switch, drawn = _sampling_parts()

    gr.Markdown(t("exact.acceptance_title"))
    accepted = TableView(elem_id="acceptance", tags=_tags())
    selected = gr.Number(0, visible=False, elem_id="selected-position")
    gr.Markdown(f"## {t('exact.questions_title')}")
    for question in section("exact.questions"):
        with gr.Accordion(question["q"], open=False):
            gr.Markdown(question["a"])

    choices = [rule, n, seed, bars]
    for source in ("bars", "loop"):
        buttons[source].click(partial(_draw, source), choices, drawn, **QUIET, **TABLES)
    real = partial(_draw_real, shelf)
    buttons["real"].click(real, [rule, n, seed, run.run, selected], drawn, js=_WITH_SELECTED, **QUIET, **MODEL_QUEUE)
    names = [json.dumps(t(f"exact.sampling.{key}")) for key in ("switch_back", "switch")]
    script = _SWITCH % (json.dumps(EXACT_RULES), json.dumps(BIASED_EXAMPLE), *names)
    switched = switch.click(None, rule, [rule, switch], js=script, **QUIET)
    switched.then(_draw_again, [*choices, drawn], drawn, **QUIET, **TABLES)
    again = partial(_draw_real_again, shelf)
    switched.then(again, [rule, n, seed, drawn, run.run, selected], drawn, js=_WITH_SELECTED, **QUIET, **MODEL_QUEUE)

    bars.release(_today, bars, today, trigger_mode="always_last", **QUIET, **TABLES)
    loaded.then(_today, bars, today, **QUIET, **TABLES)
    shown = [several, today, accepted]
    tab.select(_tables, [bars, run.run, selected], shown, js=_WITH_SELECTED, **QUIET, **TABLES)


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
        switch = gr.Button(t("exact.sampling.switch"), min_width=180, elem_id="switch-rule")
    return rule, n, seed, buttons, switch, SamplingView(elem_id="sampling")


def _tags() -> dict[str, str]:
    words = section("exact.playground")
    return {"exact": words["exact"], "biased": words["biased"]}


def _draw(source: str, rule: Any, n: Any, seed: Any, bars: Any) -> Iterator[dict[str, Any]]:
    """Test the bars, or the loop on them."""
    try:
        request, laws = Request.checked(rule, n, seed), checked_bars(bars)
        yield waiting_value(t("exact.sampling.drawing"), source=source)
        yield draw_from_bars(laws, request) if source == "bars" else draw_with_loop(laws, request)
    except Exception as fault:
        yield _fault(fault, source)


def _draw_real(
    shelf: ModelShelf, rule: Any, n: Any, seed: Any, on_screen: ShownRun | None, index: Any
) -> Iterator[dict[str, Any]]:
    """Test the real pair at a position of the run."""
    try:
        request, run = Request.checked(rule, n, seed), shown_trace(on_screen)
        place = checked_position(run, index)
        for event in shelf.using(_pair_of(run), partial(draw_from_pair, trace=run, index=place, request=request)):
            if not isinstance(event, Waiting):
                yield event
            elif event.loading is not None or event.busy:
                yield waiting_value(waiting_line(event)["text"], source="real")
            else:
                yield waiting_value(t("exact.sampling.models"), source="real")
    except Exception as fault:
        yield _fault(fault, "real")


def _draw_again(rule: Any, n: Any, seed: Any, bars: Any, drawn: Any) -> Iterator[Any]:
    """The last test with another rule, unless it was one of the real pair."""
    source = drawn.get("source") if isinstance(drawn, dict) else ""
    yield from _draw("loop" if source == "loop" else "bars", rule, n, seed, bars) if source != "real" else [gr.skip()]


def _draw_real_again(
    shelf: ModelShelf, rule: Any, n: Any, seed: Any, drawn: Any, on_screen: ShownRun | None, index: Any
) -> Iterator[Any]:
    """The last test with another rule, if it was one of the real pair."""
    real = isinstance(drawn, dict) and drawn.get("source") == "real"
    yield from _draw_real(shelf, rule, n, seed, on_screen, index) if real else [gr.skip()]


def _today(bars: Any) -> dict[str, Any]:
    try:
        return {"tables": today_table(checked_bars(bars))}
    except BadInput as refusal:
        return _refused(refusal)


def _tables(bars: Any, on_screen: ShownRun | None, index: Any) -> tuple[dict[str, Any], ...]:
    run = shown_trace(on_screen)
    try:
        accepted = {"tables": acceptance_table(run, position_index(run, index))}
    except BadInput as refusal:
        accepted = _refused(refusal)
    return {"tables": several_tokens()}, _today(bars), accepted


def _refused(refusal: BadInput) -> dict[str, Any]:
    return {"tables": [table((), (), intro=str(refusal))]}


def _pair_of(trace: Trace) -> PairChoice:
    """The choice that loads the models of a trace again; a path on this machine never passes."""
    info = trace.pair
    if info.name in CATALOGUE:
        return PairChoice(info.name)
    try:
        return pair_choice(CUSTOM, info.target, info.draft)
    except BadInput:
        raise BadInput(t("exact.bad.no_models", pair=info.name[:80])) from None


def _fault(fault: Exception, source: str) -> dict[str, Any]:
    """A refusal in its own words; anything else is logged and named."""
    if isinstance(fault, BadInput):
        return waiting_value(str(fault), "fault", source)
    _LOG.error("A sampling test failed", exc_info=fault)
    return waiting_value(t("exact.sampling.fault", fault=type(fault).__name__), "fault", source)
