"""The plain lane: once a run is over, the same prompt runs by plain decoding too, if nobody waits for the models.

It stands in no queue and holds nobody up: whoever asks for models, and whatever its visitor does, ends it.
"""

from __future__ import annotations

import json
import logging
import threading
from functools import partial
from typing import Any

import gradio as gr
from gradio.events import Dependency

from visualizations.components.keeping import keep
from visualizations.components.model_events import AT_ONCE, QUIET
from visualizations.components.status_line import StatusLine
from visualizations.figures.labels import token_label
from visualizations.serving.backend import Backend
from visualizations.serving.stopping import OpenRuns
from visualizations.serving.zero_gpu import on_zero_gpu
from visualizations.step_through.beside import Beside, Parting
from visualizations.step_through.run_view import RunView, ShownRun
from visualizations.step_through.works import Plainly
from visualizations.text import t

# Written and taken back by the page: the server's word could come when the line already tells of something else.
_SAY = "(on, line) => on && line.beside ? {...line, text: line.text + ' ' + %s, before: line.text} : undefined"
_UNSAY = "(line) => line.before ? {text: line.before, mood: line.mood, done: null} : undefined"

_LOG = logging.getLogger(__name__)


def build_lane_switch(page: gr.Blocks) -> gr.Checkbox:
    """Whether the lane runs. On a borrowed GPU it never does: its seconds would be taken from the visitor's quota."""
    lent_freely = not on_zero_gpu()
    switch = gr.Checkbox(
        lent_freely,
        label=t("app.beside.label"),
        info=t("app.beside.info"),
        visible=lent_freely,
        interactive=True,
        elem_id="beside",
    )
    keep(page, "beside", [switch])
    return switch


def run_lane_after(
    running: Dependency,
    shelf: Backend,
    lanes: OpenRuns,
    switch: gr.Checkbox,
    line: StatusLine,
    live: gr.State,
    view: RunView,
) -> None:
    """Let the lane follow the run's event `running`. lanes: what stops it.

    live: the `ShownRun`; line: names it under "beside" when it is over and the lane has something to say about it.
    """
    said = running.success(None, [switch, line], line, js=_SAY % json.dumps(t("app.beside.now")), **QUIET)
    lane = lanes.call(partial(_lane, shelf))
    ended = said.then(lane, [switch, line, live], view, trigger_mode="multiple", **AT_ONCE)
    ended.then(None, line, line, js=_UNSAY, **QUIET)


def _lane(shelf: Backend, stop: threading.Event, on: Any, line: Any, run: ShownRun | None) -> Any:
    """What joins the view of `run`; nothing where the lane is off, or didn't come to its end."""
    wanted = line.get("beside") if isinstance(line, dict) else None
    if on is not True or run is None or wanted != run.run:
        return gr.skip()
    ran = run.record.trace()
    try:
        found = shelf.beside(ran.pair.name, Plainly(ran), stop)
    except Exception:  # nobody asked for the lane, so nobody is told that it failed
        _LOG.exception("Plain decoding beside a run failed")
        return gr.skip()
    if found is None or stop.is_set():
        return gr.skip()
    run.beside = beside_value(found)
    return run.since(len(run))


def beside_value(found: Beside) -> dict[str, Any]:
    """What the page needs of a comparison: plain JSON data. Of two numbers the first is of the run that drafted."""
    return {
        "speedup": found.speedup,
        "tokens": [found.drafted.tokens, found.plain.tokens],
        "seconds": [found.drafted.seconds, found.plain.seconds],
        "compared": found.compared,
        "parting": found.parting and _parting_value(found.parting),
    }


def _parting_value(parting: Parting) -> dict[str, Any]:
    labels = [token_label(place.text, place.token_id, place.bytes) for place in (parting.here, parting.plain)]
    return {"number": parting.number, "labels": labels, "odds": parting.odds, "near": parting.near}
