"""Models on replicas: what each gets of the machines, what the command line takes, and what a replica refuses. No Ray."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specdec.models.catalogue import PairSpec
from specdec.settings import BadInput, Settings
from tests.offering import offering
from tests.where import Counting
from visualizations.serving.backend import is_result
from visualizations.serving.command_line import read_command_line
from visualizations.serving.inputs import PairChoice
from visualizations.serving.ray.asked import Alone, Beside, Using, checked_request
from visualizations.serving.ray.config import Cluster, Share, models_options, share_of
from visualizations.serving.ray.models import Models
from visualizations.serving.works import Decode

RUN = Decode("a", Settings())
FIRST = PairChoice("smollm2-135m+student")
HOSTILE = [
    "a text",
    Using("smollm2-135m+student", RUN),
    Using(PairChoice("nothing"), RUN),
    Using(PairChoice("custom", "../../etc", "owner/small"), RUN),
    Using(FIRST, print),
    Using(FIRST, Decode("", Settings())),
    Using(FIRST, Decode("a" * 10**6, Settings())),
    Using(FIRST, Decode("a", Settings(max_new_tokens=10**9))),
    Alone(FIRST, Decode("a", Settings(temperature=float("nan")))),
    Beside("x" * 10**6, RUN),
    Beside("smollm2-135m+student", None),
]


@pytest.fixture
def own(tmp_path: Path, saved: Any) -> Iterator[PairSpec]:
    """A pair of tiny models in folders, offered first."""
    words = [f"t{index}" for index in range(32)]
    target, draft = (saved(tmp_path / name, words, seed=seed) for seed, name in enumerate(("big", "small")))
    with offering(PairSpec("big+small", "big ← small", target, draft, "tiny", "float32", "cpu")) as spec:
        yield spec


@pytest.mark.parametrize(
    "cpus, gpus, replicas, share",
    [
        ([1], [0], 2, Share(0.5, 0, 2)),
        ([15], [1], 4, Share(3, 0.25, 4)),
        ([7, 8], [1, 1], 2, Share(7, 1, 1)),
        ([7, 8, 8], [0, 1, 1], 4, Share(4, 0.5, 2)),
        ([0], [0], 3, Share(0, 0, 3)),
    ],
)
def test_replicas_share_the_machines_and_all_of_them_fit(cpus, gpus, replicas, share):
    assert share_of(cpus, gpus, replicas) == share
    assert share.threads >= 1


def test_two_numbers_are_scaled_between_and_one_is_kept():
    assert models_options(Cluster(3, 3), Share(1, 0), {})["num_replicas"] == 3
    scaled = models_options(Cluster(2, 6), Share(1, 0), {})
    assert (scaled["autoscaling_config"]["min_replicas"], scaled["autoscaling_config"]["max_replicas"]) == (2, 6)
    assert "num_replicas" not in scaled


def test_the_command_line_asks_for_a_cluster(monkeypatch):
    monkeypatch.setattr("visualizations.serving.ray.command_line.find_spec", lambda name: object())
    assert read_command_line(["--backend", "ray"]).cluster == Cluster(1, 1, None, None)
    asked = read_command_line(["--backend", "ray", "--replicas", "2-6", "--address", "auto", "--runs", "4"])
    assert asked.cluster == Cluster(2, 6, "auto", 4)
    assert read_command_line([]).cluster is None and read_command_line(["--backend", "process"]).cluster is None


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--replicas", "2"], "--backend ray"),
        (["--backend", "ray", "--replicas", "0"], "from 1"),
        (["--backend", "ray", "--replicas", "3-2"], "fewest first"),
        (["--backend", "ray", "--replicas", "many"], "whole number"),
        (["--backend", "cloud"], "cloud"),
    ],
)
def test_what_it_cannot_use_it_refuses_in_words(arguments, words, capsys):
    with pytest.raises(SystemExit):
        read_command_line(arguments)
    assert words in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_it_says_how_to_get_it(capsys):
    with pytest.raises(SystemExit):
        read_command_line(["--backend", "ray"])
    assert "requirements-ray.txt" in capsys.readouterr().err


@pytest.mark.parametrize("asked", HOSTILE, ids=range(len(HOSTILE)))
def test_what_a_visitor_may_not_ask_a_replica_refuses_too(asked):
    with pytest.raises(BadInput):
        checked_request(asked)


def test_a_replica_answers_a_refusal_and_goes_on(own):
    async def ask() -> tuple[list[Any], list[Any]]:
        models = Models([own], slots=2)
        bad = Using(PairChoice(own.key), Decode("t1", Settings(max_new_tokens=10**9)))
        good = Using(PairChoice(own.key), Decode("t1 t2", Settings(max_new_tokens=4, chat=False)))
        return [a async for a in models.answers("p", bad, ["en"])], [a async for a in models.answers("p", good, ["en"])]

    refused, answered = asyncio.run(ask())
    assert [type(answer) for answer in refused] == [BadInput]
    assert len([answer for answer in answered if is_result(answer)]) > 1


@pytest.mark.parametrize("how", ["cancelled", "another page"])
def test_a_work_ends_when_its_page_is_gone(own, tmp_path, how):
    ended = tmp_path / "ended"

    async def ask() -> None:
        models = Models([own], slots=2)
        begun = asyncio.Event()

        async def listen() -> None:
            async for answer in models.answers("old", Using(PairChoice(own.key), Counting(ended)), ["en"]):
                if is_result(answer):
                    begun.set()

        listener = asyncio.create_task(listen())
        await asyncio.wait_for(begun.wait(), 60)
        await models.opened("old")
        assert not ended.exists(), "the same page is no other"
        if how == "cancelled":
            listener.cancel()
        else:
            await models.opened("new")
        await asyncio.wait([listener], timeout=20)
        assert ended.exists()

    asyncio.run(ask())
