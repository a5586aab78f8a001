"""`RunView`: the Gradio component. It draws a run and moves through it without the server.

Text of a model reaches the page through `textContent` alone: the template holds fixed containers only, and
the scripts set every word. The scripts are one program in small files, joined in the order given here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from specdec.trace.session import MAX_RUNS
from visualizations.components.plotly_files import LOADER_JS, serve_plotly
from visualizations.components.scripts import page_json, script
from visualizations.figures import palette
from visualizations.figures.token_bars import FEWEST_SLOTS, LOG_FLOOR, PLACE_OF_BIG, PLACE_OF_SMALL, skeleton
from visualizations.step_through.run_view.value import ShownRun, empty_value, new_run
from visualizations.text import section

HERE = Path(__file__).parent
SCRIPTS = (
    "state.js", "dom.js", "tips.js", "metrics.js", "beside.js", "strip.js", "bars.js",
    "coin.js", "residual.js", "drafting.js", "sentence.js", "verdict.js", "what_if.js", "draws.js", "compare.js",
    "runs.js", "pausing.js", "keyboard.js", "picture.js", "find.js", "watch.js", "watch_lines.js", "main.js",
)  # fmt: skip
STYLES = ("run_view.css", "acting.css", "find.css", "watch.css")


def view_parts(alone: bool = False) -> dict[str, Any]:
    """What any page needs to show a run: html_template, css_template and js_on_load, and the words and the bars'
    skeleton that the scripts find in their props. alone: as in `RunView`."""
    return {
        "html_template": (HERE / "run_view.html").read_text(encoding="utf-8"),
        "css_template": palette.css_variables() + "".join((HERE / name).read_text("utf-8") for name in STYLES),
        "js_on_load": script(LOADER_JS, *(HERE / name for name in SCRIPTS)),
        "words": section("run_view"),
        "figure_words": section("figures"),
        "figure": {
            **skeleton(),
            "places": [PLACE_OF_SMALL, PLACE_OF_BIG],
            "floor": LOG_FLOOR,
            "slots": FEWEST_SLOTS,
            "meanings": {name: meaning.color for name, meaning in palette.MEANINGS.items()},
        },
        "most_runs": MAX_RUNS,
        "alone": alone,
    }


class RunView(gr.HTML):
    """Shows one run; an output only, stepping costs no request.

    Its value is what `ShownRun.since` returns: a whole run, or the rounds that follow those it was given before.
    The page keeps them all, and the runs before; {"session": [whole runs], "run": name} gives it several. The event
    `select` fires with {index, round, place} when a person moves to another position, `gap` with {run, have} when
    rounds are missing: see `fill_gaps_from`, `measure` when one wants a speedup measured fairly.

    alone: this view is one of several on the page. It neither tells the page's other parts what it shows nor does what
    they ask of the run on screen, and offers nothing that needs models.
    """

    def __init__(self, value: dict[str, Any] | None = None, *, alone: bool = False, **kwargs: Any):
        super().__init__(
            value=value or empty_value(new_run(), running=False),
            apply_default_css=False,
            **view_parts(alone),
            plotly_js=serve_plotly(),
            **kwargs,
        )

    def fill_gaps_from(self, *parts: Component, run_of: Callable[..., ShownRun | None] = lambda run: run) -> None:
        """Give the page the rounds that it misses, from the run that `run_of` makes of the values of `parts`.

        It misses some when an update was passed over, as by a page that nobody looked at, or when the view is drawn
        anew in the middle of a run.
        """

        def fill(gap: gr.EventData, *values: Any) -> Any:
            return _missing(run_of(*values), gap)

        self.gap(
            fill, list(parts), self, queue=False, trigger_mode="multiple", show_progress="hidden", api_visibility="private"
        )

    def postprocess(self, value: dict[str, Any]) -> str:
        """The value travels as one text: Gradio compares it with the one before, member by member where there are
        any, and what it makes of nested lists that became shorter can't be put together again by the page. It takes
        the word <script in a text for an attempt to run one, so the text has no "<".
        """
        return page_json(value)


def _missing(run: ShownRun | None, gap: gr.EventData) -> Any:
    """What a view lacks of the run that it shows, if that is still the one on screen."""
    asked = gap._data if isinstance(gap._data, dict) else {}
    have = asked.get("have")
    if run is None or asked.get("run") != run.run or type(have) is not int or not 0 <= have <= len(run):
        return gr.skip()
    return run.since(have)
