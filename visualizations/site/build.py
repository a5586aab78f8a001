"""Writes the folder: the page, its styles and scripts, and what its parts show, each a file that a <script> can load.

A browser lets a page that was opened from a file load scripts and styles from beside it, but no data and no modules.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.components import FormComponent

from visualizations.components.contents import Contents
from visualizations.components.katex import classic_katex
from visualizations.components.plotly_files import PLOTLY_JS
from visualizations.components.scripts import page_json
from visualizations.demo import build_demo, launch_options
from visualizations.site.kept import LEFT_OUT, below, kept
from visualizations.site.layout import language_css, page_html, prose_html
from visualizations.site.visit import Visit
from visualizations.text import LANGUAGES, spoken, t

_HERE = Path(__file__).parent
_GRADIO = Path(gr.__file__).parent / "templates" / "frontend"
_STATIC = re.compile(r'url\(["\'](static/[^"\']+)["\']\)')
_PROGRAM = re.compile(r'specdecPrograms\["(\w+)"\]')
_SERVED = {"plotly_js", "katex"}  # props that say where the app serves a script
# Props that tell a component that no server is there.
_ALONE: dict[str, dict[str, Any]] = {"room": {"served": False}}


@dataclass(frozen=True)
class _Event:
    """What the page does at an event of a block. js: a JavaScript function from the inputs to the outputs, or None where
    answers are written down: [[what the first input has, name of the file]]."""

    on: list[tuple[int, str]]
    inputs: list[int]
    outputs: list[int]
    js: str | None
    answers: list[tuple[dict[str, Any], str]]

    def source(self) -> str:
        """As JavaScript."""
        plain = {"on": self.on, "inputs": self.inputs, "outputs": self.outputs, "answers": self.answers}
        return f"{{...{page_json(plain)}, js: {self.js or 'null'}}}"


def write_site(out: Path) -> list[Path]:
    """Write the app without a server into the folder `out`; gives the files that were written.

    It opens from a file and from any web server, under any path, and loads nothing from elsewhere.
    """
    with spoken(LANGUAGES):
        page = build_demo()
        files = dict(_files(page))
    for name, content in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [out / name for name in files]


def _files(page: gr.Blocks) -> Iterator[tuple[str, str | bytes]]:
    config = page.get_config_file()
    props = {component["id"]: component["props"] for component in config["components"]}
    visit = Visit(page)
    events = _page_events(page)
    for number, (on, answers) in enumerate(visit.answers()):
        named = []
        for place, answer in enumerate(answers):
            name = f"answers/{number}-{place}"
            named.append((answer.given, name))
            yield f"{name}.js", _told(name, answer.values)
        events.append(_Event(on, [on[0][0]], [], None, named))
    for name, blocks in _parts(page).items():
        yield f"parts/{name}.js", _told(f"parts/{name}", {b._id: _props(b, props[b._id], visit) for b in blocks})
    yield "events.js", _events_js(events, props)
    yield "programs.js", _in_script(config["head"])
    yield "site.js", (_HERE / "site.js").read_text("utf-8")
    yield "plotly.min.js", PLOTLY_JS.read_bytes()
    yield from classic_katex("katex")
    css = _css(page)
    yield "site.css", css
    for name in dict.fromkeys(_STATIC.findall(css)):
        yield name, (_GRADIO / name).read_bytes()
    yield "index.html", _index(page)


def _index(page: gr.Blocks) -> str:
    return Template((_HERE / "page.html").read_text("utf-8")).substitute(
        title=page.title, head=launch_options()["head"], about=prose_html(t("site.about")), page=page_html(page)
    )


def _told(name: str, values: Mapping[int, Any]) -> str:
    """A file that hands the page what its blocks hold."""
    return f"specdecSite.told({json.dumps(name)}, {page_json(values)});\n"


def _in_script(head: str) -> str:
    return head[head.index(">") + 1 : head.index("</script>")]


def _parts(page: gr.Blocks) -> dict[str, list[gr.HTML]]:
    """The components that are drawn, by the tab they are in; "page" has those above the tabs."""
    parts: dict[str, list[gr.HTML]] = defaultdict(list)

    def walk(block: Block, name: str) -> None:
        for child in getattr(block, "children", ()):
            if kept(child):
                if isinstance(child, gr.HTML):
                    parts[name].append(child)
                walk(child, child.id if isinstance(child, gr.Tab) else name)

    walk(page, "page")
    return parts


def _props(block: gr.HTML, told: Mapping[str, Any], visit: Visit) -> dict[str, Any]:
    """What a component's script finds in its props, and which script that is."""
    value = visit.opened.get(block._id, told["value"])
    if isinstance(block, Contents):
        value = [(section, words) for section, words in value if section not in LEFT_OUT]
    program = _PROGRAM.search(told["js_on_load"])[1]  # type: ignore[index]
    props = {name: each for name, each in told["props"].items() if name not in _SERVED}
    return {**props, **_ALONE.get(block.elem_id or "", {}), "value": value, "program": program}


def _page_events(page: gr.Blocks) -> list[_Event]:
    """What the page does by itself at events of its own parts. What it recalls when it is opened, and keeps for that,
    is a server's affair: here everything begins as it was recorded."""
    heard = {block._id for block in page.blocks.values() if kept(block) or isinstance(block, FormComponent)}
    return [
        _Event(on, [block._id for block in event.inputs], [block._id for block in event.outputs], event.js, [])
        for event in page.fns.values()
        if event.js and not event.fn and "remember(" not in event.js
        for on in [[target for target in event.targets if target[0] in heard]]
        if on
    ]


def _events_js(events: list[_Event], props: Mapping[int, Mapping[str, Any]]) -> str:
    """The events, and what the boxes hold that aren't drawn here: the page's address tells of them all the same."""
    boxes = {key for event in events for key in event.inputs + event.outputs if "props" not in props[key] and "value" in props[key]}
    held = page_json({key: props[key]["value"] for key in sorted(boxes)})
    sources = ",\n".join(event.source() for event in events)
    return f"specdecSite.begin([\n{sources}\n], {held});\n"


def _css(page: gr.Blocks) -> str:
    """The theme's variables, the app's own style, that of the site, and each component's within it, as Gradio scopes it."""
    options = launch_options()
    scoped: dict[str, list[str]] = defaultdict(list)
    for block in below(page):
        if isinstance(block, gr.HTML) and block.css_template:
            scoped[block.css_template].append(f"#part-{block._id}")
    components = "".join(f":is({', '.join(ids)}) {{\n{css}\n}}\n" for css, ids in scoped.items())
    return options["theme"]._get_theme_css() + options["css"] + (_HERE / "site.css").read_text("utf-8") + language_css() + components
