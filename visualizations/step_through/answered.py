"""The answer to a wish from the runs that are finished already, at once and with no place in the queue."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr
from gradio.components import Component

from specdec.settings import BadInput
from visualizations.components.model_events import AT_ONCE, QUIET, ask
from visualizations.components.status_line import StatusLine, status
from visualizations.step_through.finished import Canned, Finished, FinishedRuns
from visualizations.step_through.kept_run import kept
from visualizations.step_through.wishes import Asked, Wish, read_wish
from visualizations.text import t

MINUTE, HOUR, DAY = 60, 3600, 86400

# What wasn't found is asked for, unless its visitor has stopped it meanwhile.
_ASK_THEN = "(line) => line.look ? {...line, look: false, ask: true} : undefined"
_AGAIN = "(line) => line.button ? [(%s)(line), line.button.wish] : []"


def answer(finished: FinishedRuns, asked: Asked) -> tuple[Any, ...] | None:
    """What is shown of a finished run that was asked for: the view, the line, what the page holds, and the run."""
    found = None if asked.anew else finished.get(asked.canned)
    if found is None:
        return None
    run = found.run.named(asked.name)
    return run.since(0), answered_line(found, asked.canned), kept(run.record.trace(), run.run), run


def answered_line(found: Finished, what: Canned) -> dict[str, Any]:
    """How a run ended, how long ago, and a button that asks for another of the same."""
    text = " ".join([found.ended, t("app.decoded.line", ago=ago(found.seconds))])
    wish = {"wish": "again", "example": what.example, "pair": what.pair}
    return status(text, "done") | {"button": {"label": t("app.decoded.again"), "wish": wish}}


def ago(seconds: float) -> str:
    """A time that is past, in words."""
    if seconds < MINUTE:
        return t("app.decoded.now")
    name, length = next(unit for unit in (("day", DAY), ("hour", HOUR), ("minute", MINUTE)) if seconds >= unit[1])
    count = int(seconds // length)
    return t(f"app.decoded.{name}") if count == 1 else t(f"app.decoded.{name}s", count=count)


def answer_at_once(
    finished: FinishedRuns, line: StatusLine, wish: Wish, inputs: Sequence[Component], outputs: Sequence[Component]
) -> None:
    """Let `line`, when it looks, show a finished run or else ask; its button asks for one of its own.

    inputs: the prompt, then what `read_wish` takes. outputs: where an `answer` belongs.
    """
    looked = line.look(partial(_look, finished), list(inputs), list(outputs), preprocess=False, **AT_ONCE)
    looked.then(None, line, line, js=_ASK_THEN, **QUIET)
    line.press(None, line, [line, wish], js=_AGAIN % ask(), **QUIET)


def _look(finished: FinishedRuns, prompt: Any, *values: Any) -> tuple[Any, ...]:
    try:
        found = answer(finished, read_wish({}, prompt, values))
    except BadInput:  # the run that is asked for then says so
        found = None
    return found or (gr.skip(),) * 4
