"""The run on screen, held by the page and sent by it to whoever needs it.

The server keeps no run for its visitor (those in `finished.py` are examples, for anybody), so it can't forget one or
take one for another: what is asked for is in the page's own request, and when the page has none it says which way it
is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from specdec.settings import BadInput
from specdec.trace.trace import Trace
from visualizations.components.keeping import MEMORY_JS
from visualizations.components.scripts import script
from visualizations.step_through.examples import Example, examples, recorded_trace
from visualizations.text import section, t

_HERE = Path(__file__).parent
_COMPONENTS = _HERE.parent / "components"
_SCRIPTS = (_COMPONENTS / "connection.js", _COMPONENTS / "memory.js", _HERE / "kept_run.js")

NOTHING, UNDER_WAY, LOST = ({"missing": why} for why in ("none", "under_way", "lost"))


def name_of(example: Example) -> str:
    """What an example's recorded run is called on the page, whenever it is shown."""
    return f"example-{example.key}"


def kept_example(example: Example) -> dict[str, Any]:
    """The value while an example's recorded run is on screen."""
    return {"example": example.key, "run": name_of(example)}


def kept(trace: Trace, run: str, origin: dict[str, Any] | None = None) -> dict[str, Any]:
    """The value while `trace` is on screen, where it is called `run`. origin: of a branch, as `ShownRun` has it."""
    return {"trace": trace.to_json(), "run": run} | ({"origin": origin} if origin else {})


def shown_again(run: str) -> dict[str, Any]:
    """The value that puts a run of the page in this one's place, one that the page has."""
    return {"show": run}


def kept_session(runs: Sequence[dict[str, Any]], run: str) -> dict[str, Any]:
    """The value that gives the page several runs, each as `kept` has it. run: the one on screen."""
    return {"session": list(runs), "run": run}


def trace_on_screen(value: Any) -> Trace:
    """The run that a `KeptRun` holds; raises `BadInput` in words that tell apart why there is none."""
    held = value if isinstance(value, dict) else {}
    for example in examples():
        if held.get("example") == example.key:
            return recorded_trace(example)
    if isinstance(held.get("trace"), str):
        return Trace.from_json(held["trace"])
    missing, words = held.get("missing"), section("app.no_run")
    raise BadInput(words[missing] if isinstance(missing, str) and missing in words else t("app.no_run.unreadable"))


class KeptRun(gr.HTML):
    """Shows nothing. Its value is `kept_example`, `kept`, or one of `NOTHING`, `UNDER_WAY`, `LOST`; given
    `shown_again` or `kept_session` it takes the value of the run meant.

    The value outlives a reload of the page. After one it also has "reopened", which is "lost" when Gradio
    reloaded because the connection was lost, else "asked"; then the event `reopened` fires.
    """

    def __init__(self, value: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(
            value=value or NOTHING,
            html_template="<span></span>",
            js_on_load=script(*_SCRIPTS),
            apply_default_css=False,
            **kwargs,
        )

    def api_info(self) -> dict[str, Any]:
        """The value is an object, not the text that gr.HTML announces."""
        return {"type": "object"}


def reopen_script() -> str:
    """A JavaScript function for the page's load: the value of a `KeptRun` before a reload, if there was one."""
    return f"""(now) => {{ {MEMORY_JS}
      const before = recall("run"), tree = recall("tree"), lost = recall("lost");
      remember("lost", false);
      return before || lost ? {{...(before || now), tree, reopened: lost ? "lost" : "asked"}} : undefined;
    }}"""
