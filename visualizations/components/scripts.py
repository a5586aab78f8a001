"""The page's side of a component: small files that make one program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specdec.trace.strict_json import compact_json

THEORY_JS = Path(__file__).parent / "theory.js"
_PAGE = Path(__file__).parent / "page.js"


def script(*files: Path) -> str:
    """`page.js` and then `files`, in order, as one program for `js_on_load`."""
    return "\n".join(file.read_text("utf-8") for file in (_PAGE, *files))


def page_json(plain: Any) -> str:
    """JSON that may stand anywhere in a page: it has no "<", which JSON needs nowhere, and so neither tag nor comment."""
    return compact_json(plain).replace("<", "\\u003c")
