"""The load test's command on the real app: a small crowd that is served, and a server that mixes its visitors up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
import torch

from specdec.models.catalogue import DEFAULT_PAIR
from specdec.models.pairs import Pair
from specdec.recording import decode
from specdec.settings import Settings
from tests.launched import free_port, launched, only
from tests.slow_pair import CHAT_TEMPLATE
from visualizations.load_test.__main__ import main
from visualizations.load_test.client import browsers, opened
from visualizations.load_test.course import odds_of
from visualizations.load_test.judging import Parting
from visualizations.step_through import handlers

CROWD = ["--visitors", "8", "--tokens", "6", "--waves", "1", "--within", "0.5"]


@pytest.fixture(scope="module")
def pair(llama_pair: Callable[..., Pair]) -> Pair:
    made = llama_pair()
    made.tokenizer.chat_template = CHAT_TEMPLATE
    return made


@pytest.fixture(scope="module")
def url(pair: Pair) -> Iterator[str]:
    with launched(only(pair)) as url:
        yield url


def test_eight_at_once_are_all_answered(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([*CROWD, "--url", url, "--alone", "2", "--json", str(tmp_path / "load.json")])
    told = capsys.readouterr().out.splitlines()
    assert code == 0, told
    assert told[-1].startswith("8 of 8 answered, worst ")
    kept = json.loads((tmp_path / "load.json").read_text("utf-8"))
    assert kept["counts"] == {"answered": 8} and kept["compared_with_alone"] == 2
    assert all(0 < one["wait"] <= one["total"] for one in kept["waves"][0])
    assert {"opening the page", "a sign of life", "the models' line"} < set(kept["requests"]["idle"])
    assert kept["next_seconds"] > 0


@pytest.mark.parametrize("place", [0, 3])
def test_what_a_greedy_run_might_have_written_instead(url: str, pair: Pair, place: int) -> None:
    """The odds are those that plain decoding has at temperature 1, asked by the page's own events."""
    alone = decode(pair, "t5 t1", Settings(temperature=0, max_new_tokens=6, chat=False))
    before = [index for index, p in enumerate(alone.positions) if p.kind != "discarded"][place - 1] if place else None
    text = [*alone.prompt.ids, *alone.output.ids[:place]]
    pair.target.rewind(0)
    law = pair.target.extend(torch.tensor(text))[-1].softmax(-1)
    ids = tuple(law.topk(2).indices.tolist())

    async def asked() -> list[float] | None:
        async with browsers(url, patience=60) as http:
            return await odds_of(http, await opened(http), Parting(alone, before, ids))

    alone = replace(alone, pair=replace(alone.pair, name=DEFAULT_PAIR))
    assert ids[0] == alone.output.ids[place]
    assert anyio.run(asked) == pytest.approx(law[list(ids)].tolist(), abs=1e-4)


def test_a_server_that_gives_each_the_run_of_the_one_before(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read_wish, asked = handlers.read_wish, []

    def of_the_one_before(*wish: object) -> object:
        asked.append(wish)
        return read_wish(*asked[max(0, len(asked) - 2)])

    monkeypatch.setattr(handlers, "read_wish", of_the_one_before)
    assert main(["--visitors", "3", "--tokens", "4", "--waves", "1", "--within", "0.2", "--alone", "1", "--url", url]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 of 3 answered, 3 wrong")


def test_nobody_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CROWD, "--url", f"http://127.0.0.1:{free_port()}"]) == 1
    assert "nothing was measured" in capsys.readouterr().err


def test_no_other_machine_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*CROWD, "--url", "http://10.0.0.1:7860"])
    assert "loopback" in capsys.readouterr().err
