"""The files that a run can be taken away as, each built from its trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specdec.settings import BadInput, shown
from specdec.trace.trace import Trace
from visualizations.components.file_saver import file_value
from visualizations.step_through.take_away.page import run_page
from visualizations.step_through.take_away.table import run_csv
from visualizations.text import t

BYTE_ORDER_MARK = "\ufeff"  # tells a spreadsheet that a CSV file is UTF-8


@dataclass(frozen=True)
class File:
    """name: of the file. text: what is in it, from a trace."""

    name: str
    text: Callable[[Trace], str]


FILES = {
    "json": File("trace.json", Trace.to_json),
    "csv": File("run.csv", lambda trace: BYTE_ORDER_MARK + run_csv(trace)),
    "html": File("run.html", run_page),
}


def run_file(trace: Trace, wanted: Any) -> dict[str, Any]:
    """A run in the format `wanted`, one of `FILES`, as the value of a `FileSaver`; raises `BadInput` for another."""
    if not isinstance(wanted, str) or wanted not in FILES:
        raise BadInput(t("take_away.unknown", format=shown(wanted), known=", ".join(FILES)))
    file = FILES[wanted]
    return file_value(file.name, file.text(trace))
