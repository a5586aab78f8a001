"""The load test's command on the real app: a small crowd that is served, and a server that mixes its visitors up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specdec.models.pairs import Pair
from tests.launched import free_port, launched, only
from visualizations.load_test.__main__ import main
from visualizations.step_through import handlers

CROWD = ["--visitors", "8", "--tokens", "6", "--waves", "1", "--within", "0.5"]


def test_eight_at_once_are_all_answered(app_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([*CROWD, "--url", app_url, "--alone", "2", "--json", str(tmp_path / "load.json")])
    told = capsys.readouterr().out.splitlines()
    assert code == 0, told
    assert told[-1].startswith("8 of 8 answered, worst ")
    kept = json.loads((tmp_path / "load.json").read_text("utf-8"))
    assert kept["counts"] == {"answered": 8} and kept["compared_with_alone"] == 2
    assert all(0 < one["wait"] <= one["total"] for one in kept["waves"][0])
    assert {"opening the page", "a sign of life", "the models' line"} < set(kept["requests"]["loaded"])
    assert kept["next_seconds"] > 0


def test_a_server_that_gives_each_the_run_of_the_one_before(
    default_pair: Pair, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read_wish, asked = handlers.read_wish, []

    def of_the_one_before(*wish: object) -> object:
        asked.append(wish)
        return read_wish(*asked[max(0, len(asked) - 2)])

    monkeypatch.setattr(handlers, "read_wish", of_the_one_before)
    with launched(only(default_pair)) as url:
        assert main(["--visitors", "3", "--tokens", "4", "--waves", "1", "--within", "0.2", "--alone", "1", "--url", url]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 of 3 answered, 3 wrong")


def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CROWD, "--url", f"http://127.0.0.1:{free_port()}"]) == 1
    assert "nothing was measured" in capsys.readouterr().err


def test_no_other_machine_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*CROWD, "--url", "http://10.0.0.1:7860"])
    assert "loopback" in capsys.readouterr().err
