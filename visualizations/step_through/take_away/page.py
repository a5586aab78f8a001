"""A run as a page of its own: the run view that the app has, with plotly and the run in one file, for no server."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from pathlib import Path
from string import Template

from plotly.offline import get_plotlyjs

from specdec.trace.trace import Trace
from visualizations.components.scripts import page_json
from visualizations.step_through.run_view import run_view_value, view_parts
from visualizations.text import t

_HERE = Path(__file__).parent


def run_page(trace: Trace) -> str:
    """An HTML page that opens from a file, asks nobody for anything, and steps through the run as the app does.

    It has about 5 MB, nearly all of it plotly.js. What people and models wrote lies in it as JSON, which the view puts
    on screen as text; and the page runs no scripts but the two that it is made with.
    """
    parts = view_parts()
    template, style, program = (parts.pop(name) for name in ("html_template", "css_template", "js_on_load"))
    plotly, program = get_plotlyjs(), _program(program)
    return Template((_HERE / "page.html").read_text("utf-8")).substitute(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {_named(plotly)} {_named(program)}",
        title=escape(t("take_away.page.title")),
        made=escape(t("take_away.page.made", created=trace.created)),
        asked=escape(t("app.prompt.label")),
        style=(_HERE / "page.css").read_text("utf-8") + f"#view {{ {style} }}",
        view=template,
        run=page_json(run_view_value(trace)),
        props=page_json(parts | {"prompt": trace.prompt.text}),
        plotly=plotly,
        program=program,
    )


def _program(view: str) -> str:
    return f"function showRun(element, props, trigger, watch) {{\n{view}\n}}\n{(_HERE / 'page.js').read_text('utf-8')}"


def _named(script: str) -> str:
    """The script as a content security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
