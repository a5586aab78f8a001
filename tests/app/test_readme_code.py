"""The Python of the README runs as it is printed there."""

from __future__ import annotations

import re
from pathlib import Path

import plotly.graph_objects as go
import pytest

import specdec
from specdec.models.pairs import Pair

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def test_the_ten_lines_run(default_pair: Pair, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(specdec, "load_pair", lambda: default_pair, raising=False)
    monkeypatch.setattr(go.Figure, "show", lambda figure, **options: None)
    code = re.search(r"```python\n(import specdec.*?)```", README, re.S).group(1)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    branch = re.search(r"```python\n(parts = .*?)```", README, re.S).group(1)
    exec(compile(branch, "README.md", "exec"), names)
    start, first = next(names["parts"]), next(names["parts"])
    assert start.resumed is not None and first.round.emitted
    specdec.Trace.from_json((tmp_path / "trace.json").read_bytes())


def test_the_call_over_http_runs(app_url: str) -> None:
    code = re.search(r"```python\n(from gradio_client.*?)```", README, re.S).group(1)
    names: dict[str, object] = {}
    exec(compile(code.replace("http://127.0.0.1:7860", app_url), "README.md", "exec"), names)
    assert names["trace"]["schema"] == "specdec-trace/2"
