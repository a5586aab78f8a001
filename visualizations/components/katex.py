"""KaTeX without a network: the copy that Gradio ships for its Markdown, served by the app itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import gradio

_ASSETS = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
_EXPORT = re.compile(r"export\s*\{\s*(\w+) as default\s*\};?\s*$")
_OTHER_FORMATS = re.compile(r",\s*url\([^)]*\.(?:woff|ttf)\)\s*format\([^)]*\)")
_WITHIN_GRADIO = re.compile(r"\.gradio-container-[\d-]+ ")
_FONT = re.compile(r"url\(\.?/?([\w.-]+\.woff2)\)")


def katex_files() -> dict[str, str]:
    """Names under /assets/ of KaTeX's script and style sheet; {} when this Gradio has none."""
    found = {kind: sorted(_ASSETS.glob(f"katex-*.{kind}")) for kind in ("js", "css")}
    return {kind: paths[0].name for kind, paths in found.items()} if all(found.values()) else {}


def classic_katex(folder: str) -> Iterator[tuple[str, str | bytes]]:
    """The same as files of `folder`, for pages that may not import modules: katex.js sets `window.katex`, and katex.css
    finds its fonts beside it, in the one format that every browser reads. Nothing when this Gradio has none."""
    files = katex_files()
    if not files:
        return
    module, css = ((_ASSETS / files[kind]).read_text("utf-8") for kind in ("js", "css"))
    program = _EXPORT.sub(r"return \1;", module)
    yield f"{folder}/katex.js", f"window.katex = (() => {{{program}}})();"
    css = _WITHIN_GRADIO.sub("", _OTHER_FORMATS.sub("", css))
    yield f"{folder}/katex.css", css
    for name in dict.fromkeys(_FONT.findall(css)):
        yield f"{folder}/{name}", (_ASSETS / name).read_bytes()
