"""What a run is taken away as: the table and the page, read back by other programs than those that wrote them."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from itertools import takewhile

import pandas
import plotly
import pytest

from specdec.settings import BadInput
from specdec.trace.trace import Trace
from tests.made_trace import HOSTILE, ended_trace, made_trace, stopped_trace, trace_of
from visualizations.step_through.examples import examples, recorded_trace
from visualizations.step_through.take_away.files import BYTE_ORDER_MARK, FILES, run_file
from visualizations.step_through.take_away.page import run_page
from visualizations.step_through.take_away.table import COLUMNS, run_csv

NUMBERS = {
    "output_index": "output_index", "token_id": "token_id", "draft_id": "draft_id", "p_big": "p", "p_small": "q",
    "accept_probability": "accept_probability", "coin": "coin", "draft_uniform": "draft_uniform",
    "token_uniform": "token_uniform", "overlap": "overlap", "residual_mass": "residual_mass",
    "target_entropy": "target_entropy", "draft_entropy": "draft_entropy",
}  # fmt: skip
# What a spreadsheet or pandas would take for something else than a text.
MISTAKABLE = (
    '=HYPERLINK("http://x";"y")', "+1+1", "-2-3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "#", "# a", "NA", "nan", "None",
    "007", "1e5", "1-2", "TRUE", "", " ", "'", '"', '""', ",", ";", "a,b\r\n#c", "‘", "’", "‘=1",
)  # fmt: skip


def table(text: str) -> tuple[list[str], list[dict[str, str]]]:
    """The comment lines, and the rows by column."""
    lines = text.splitlines(keepends=True)
    comments = list(takewhile(lambda line: line.startswith("# "), lines))
    return comments, list(csv.DictReader(StringIO("".join(lines[len(comments) :]), newline="")))


def with_texts(texts: tuple[str, ...]) -> Trace:
    """A run whose tokens have these texts, as many positions as there are texts."""
    positions = [replace(made_trace().positions[0], text=text) for text in texts]
    trace = ended_trace()
    return replace(trace, rounds=(replace(trace.rounds[0], positions=tuple(positions)),))


@pytest.mark.parametrize("trace", [made_trace(), stopped_trace(), made_trace(rule="block"), ended_trace()], ids=["made", "stopped", "block", "ended"])
def test_every_number_of_every_position_is_in_the_table(trace: Trace) -> None:
    _, rows = table(run_csv(trace))
    places = [(number, place) for number, round_ in enumerate(trace.rounds, 1) for place in range(1, len(round_.positions) + 1)]
    assert [(int(row["round"]), int(row["place"])) for row in rows] == places
    for row, position in zip(rows, trace.positions, strict=True):
        for column, fact in NUMBERS.items():
            value = getattr(position, fact)
            assert (None if row[column] == "" else float(row[column])) == value, column
        assert row["kind"] == position.kind and row["drafted_by"] == (position.drafted_by or "")
        assert row["token"].replace("␀", "\0") == f"‘{position.text}’"
        assert row["token_bytes"] == (f"‘{position.bytes}’" if position.bytes else "")
        drafts = [c.text for c in position.candidates if c.id == position.draft_id]
        assert row["draft"].replace("␀", "\0") == "".join(f"‘{draft}’" for draft in drafts)
    assert any(position.kind == "discarded" for position in trace.positions) or trace.settings.rule == "block"


def test_each_column_is_explained_above_the_table() -> None:
    comments, rows = table(run_csv(made_trace(seed=3)))
    explained = [match[1] for line in comments if (match := re.match(r"# (\w+): .{4}", line))]
    assert tuple(explained) == COLUMNS == tuple(rows[0])
    assert any("seed 3" in line for line in comments)


def test_an_empty_run_has_a_header() -> None:
    comments, rows = table(run_csv(trace_of([])))
    assert len(comments) > len(COLUMNS) and rows == []


def test_no_text_is_a_formula_a_number_or_a_comment_to_another_program() -> None:
    _, rows = table(run_csv(with_texts(MISTAKABLE)))
    assert [row["token"][1:-1] for row in rows] == list(MISTAKABLE)
    assert {row["token"][0] for row in rows} == {"‘"}
    for trace in (with_texts(MISTAKABLE), with_texts(HOSTILE), made_trace()):
        frame = pandas.read_csv(StringIO(BYTE_ORDER_MARK + run_csv(trace)), comment="#")
        assert tuple(frame.columns) == COLUMNS
        assert list(frame["token"].str[1:-1]) == [position.text for position in trace.positions]
        assert list(frame["p_big"].dropna()) == pytest.approx([p.p for p in trace.positions if p.p is not None], rel=1e-12)


def test_what_a_file_says_of_its_models_stays_one_line_and_one_cell() -> None:
    trace = made_trace()
    named = replace(trace, pair=replace(trace.pair, target='a\r\n=1+1,"b"\u2028\0c'))
    comments, rows = table(run_csv(named))
    assert len(comments) == len(table(run_csv(trace))[0]) and len(rows) == len(trace.positions)
    assert all(next(csv.reader([line])) == [line.rstrip("\r\n")] for line in comments)


class Scripts(HTMLParser):
    """The scripts of a page with their attributes, and all other elements' names."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[dict[str, str | None]] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.scripts.append(dict(attributes))
        self.loads += [f"{tag} {name}" for name, _ in attributes if name in ("src", "href") or name.startswith("on")]


@pytest.mark.parametrize("trace", [made_trace(), with_texts(HOSTILE + ("<!--", "<!--<script>", "$plotly", "${policy}"))], ids=["made", "hostile"])
def test_the_page_is_whole_and_nothing_in_it_is_from_elsewhere(trace: Trace) -> None:
    text = run_page(trace)
    page = Scripts()
    page.feed(text)
    assert [script.get("id") for script in page.scripts] == ["run", "props", None, None]
    assert page.loads == []
    assert plotly.__path__[0] not in text


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.key)
def test_a_recorded_run_makes_a_page_below_six_megabytes(example) -> None:
    assert len(run_page(recorded_trace(example)).encode()) < 6_000_000


def test_a_file_is_named_and_typed_for_what_it_is() -> None:
    files = {key: run_file(made_trace(), key) for key in FILES}
    assert {key: (file["name"], file["type"]) for key, file in files.items()} == {
        "json": ("trace.json", "application/json"), "csv": ("run.csv", "text/csv"), "html": ("run.html", "text/html"),
    }  # fmt: skip
    assert files["json"]["text"] == made_trace().to_json()


@pytest.mark.parametrize("wanted", ["exe", "", None, 3, ["csv"], "svg"])
def test_another_format_is_refused_in_a_sentence(wanted: object) -> None:
    with pytest.raises(BadInput, match="format .* is not one of json, csv, html"):
        run_file(made_trace(), wanted)
