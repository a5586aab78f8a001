"""A run as a table for a spreadsheet or for pandas: comment lines that say what it is, a header, one row a position."""

from __future__ import annotations

import csv
from io import StringIO

from specdec.trace.record import Position
from specdec.trace.trace import Trace
from visualizations.step_through.run_view.value import settings_line
from visualizations.text import section, t

COLUMNS = (
    "round", "place", "kind", "output_index", "token_id", "token", "token_bytes", "draft_id", "draft", "drafted_by",
    "p_big", "p_small", "accept_probability", "coin", "draft_uniform", "token_uniform", "overlap", "residual_mass",
    "target_entropy", "draft_entropy",
)  # fmt: skip


def run_csv(trace: Trace) -> str:
    """All positions in reading order, discarded drafts included, as CSV (RFC 4180) with the columns `COLUMNS`.

    Lines before the header begin with # and explain the columns. Numbers have all their digits; what a position
    hasn't is empty. Text is always in quotes, and a text of the models also stands between ‘ and ’: so no program
    takes it for a formula, a number, a date, a comment or a missing value.
    """
    file = StringIO()
    for line in _legend(trace):
        file.write(f"# {_plain(line)}\r\n")
    table = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    table.writerow(COLUMNS)
    for number, round_ in enumerate(trace.rounds, 1):
        table.writerows(_row(number, place, position) for place, position in enumerate(round_.positions, 1))
    return file.getvalue()


def _row(number: int, place: int, position: Position) -> tuple[str | float | None, ...]:
    """One cell for each of `COLUMNS`."""
    return (
        number, place, position.kind, position.output_index, position.token_id,
        _text(position.text), _text(position.bytes), position.draft_id, _text(_draft(position)), position.drafted_by,
        position.p, position.q, position.accept_probability, position.coin, position.draft_uniform,
        position.token_uniform, position.overlap, position.residual_mass,
        position.target_entropy, position.draft_entropy,
    )  # fmt: skip


def _draft(position: Position) -> str | None:
    return next((c.text for c in position.candidates if c.id == position.draft_id), None)


def _text(text: str | None) -> str | None:
    """NUL, which ends a text for many readers, is drawn."""
    return None if text is None else f"‘{text}’".replace("\0", "␀")


def _legend(trace: Trace) -> list[str]:
    metrics, words = trace.metrics, "take_away.table."
    about = t(words + "about", tokens=metrics.emitted, rounds=metrics.rounds, created=trace.created)
    meanings = section(words + "columns")
    return [about, " · ".join(settings_line(trace)), t(words + "reading"), *(f"{name}: {meanings[name]}" for name in COLUMNS)]


def _plain(line: str) -> str:
    """One line in one cell: no control character, nothing that ends a cell or quotes one."""
    printable = "".join(sign if sign.isprintable() else " " for sign in line)
    return printable.replace(",", ";").replace('"', "'")
