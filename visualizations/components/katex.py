"""KaTeX without a network: the copy that Gradio ships for its Markdown, served by the app itself."""

from __future__ import annotations

from pathlib import Path

import gradio

_ASSETS = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"


def katex_files() -> dict[str, str]:
    """Names under /assets/ of KaTeX's script and style sheet; {} when this Gradio has none."""
    found = {kind: sorted(_ASSETS.glob(f"katex-*.{kind}")) for kind in ("js", "css")}
    return {kind: paths[0].name for kind, paths in found.items()} if all(found.values()) else {}
