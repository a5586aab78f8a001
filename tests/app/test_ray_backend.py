"""The page and two replicas of the models as deployments of Ray Serve on this machine: real processes, some killed."""

from __future__ import annotations

import os
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("ray", reason="Ray is not installed (requirements-ray.txt): its backend is not tested")

from gradio_client import Client  # noqa: E402
from ray import serve  # noqa: E402

from specdec.models.catalogue import PairSpec  # noqa: E402
from specdec.settings import BadInput, Settings  # noqa: E402
from specdec.trace.growing import Step  # noqa: E402
from tests.launched import free_port  # noqa: E402
from tests.offering import offering  # noqa: E402
from tests.where import Counting, Located  # noqa: E402
from visualizations.demo import build_demo, launch_options  # noqa: E402
from visualizations.serving.backend import Backend, Waiting  # noqa: E402
from visualizations.serving.inputs import PairChoice  # noqa: E402
from visualizations.serving.ray.asked import Using  # noqa: E402
from visualizations.serving.ray.backend import RayBackend  # noqa: E402
from visualizations.serving.ray.config import Cluster  # noqa: E402
from visualizations.serving.ray.start import running  # noqa: E402
from visualizations.serving.shelf import ModelShelf  # noqa: E402
from visualizations.serving.works import Decode  # noqa: E402
from visualizations.step_through.live_run import shown_steps  # noqa: E402
from visualizations.step_through.wishes import Asked  # noqa: E402
from visualizations.text import t  # noqa: E402

PATIENCE = 120
PROMPT = "t3 t1"
SETTINGS = Settings(chat=False, max_new_tokens=24, seed=5)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, saved: Any) -> Iterator[PairSpec]:
    """A pair of tiny models in folders, which every process offers first."""
    words = [f"t{index}" for index in range(32)]
    folder = tmp_path_factory.mktemp("models")
    target, draft = (saved(folder / name, words, seed=seed) for seed, name in enumerate(("big", "small")))
    with offering(PairSpec("big+small", "big ← small", target, draft, "tiny", "float32", "cpu")) as spec:
        yield spec


@pytest.fixture(scope="module")
def choice(own: PairSpec) -> PairChoice:
    return PairChoice(own.key)


@pytest.fixture(scope="module")
def url(own: PairSpec) -> Iterator[str]:
    """The address of the page, once every replica has the models."""
    with running(build_demo, launch_options, [own], free_port(), Cluster(2, 2)) as address:
        wait_until(lambda: replicas().warm(PairChoice(own.key)).loaded)
        yield address
    assert not processes("Models") and not processes("Page")


@pytest.fixture
def backend(url: str) -> RayBackend:
    return replicas()


def replicas() -> RayBackend:
    return RayBackend(serve.get_deployment_handle("Models", "models"))


def processes(deployment: str) -> set[int]:
    """Ids of a deployment's processes that this one started."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if deployment in process.cmdline()[0] and process.status() != psutil.STATUS_ZOMBIE:
                found.add(process.pid)
        except (psutil.Error, IndexError):
            pass
    return found


def wait_until(there: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def texts(parts: Iterator[Any]) -> list[str]:
    """Of each round of a run, in a form that tells any two apart; what clocks say is left out."""
    return [f"{step.text} {step.round.positions}" for step in parts if isinstance(step, Step)]


def answers(models: Backend, choice: PairChoice, settings: Settings) -> list[str]:
    return texts(models.steps(choice, PROMPT, settings, threading.Event()))


def test_two_replicas_give_the_answers_of_one_process(backend: RayBackend, choice: PairChoice) -> None:
    """The same tokens: the numbers beside them are rounded otherwise where two runs meet on a replica."""
    here, runs = ModelShelf(), [SETTINGS.changed(seed=seed, gamma=gamma) for seed, gamma in enumerate((0, 2, 4, 4))]
    there: dict[int, list[int]] = {}

    def ids(models: Backend, settings: Settings) -> list[int]:
        steps = [one for one in models.steps(choice, PROMPT, settings, threading.Event()) if isinstance(one, Step)]
        return [p.token_id for step in steps for p in step.round.positions if p.kind != "discarded"]

    def run(number: int) -> None:
        there[number] = ids(backend, runs[number])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(runs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert [there[number] for number in range(len(runs))] == [ids(here, settings) for settings in runs]


def test_works_at_once_are_on_both_replicas(backend: RayBackend, choice: PairChoice, tmp_path: Path) -> None:
    works = [backend.using(choice, Counting(tmp_path / str(number)), threading.Event()) for number in range(2)]
    found = {next(answer for answer in work if isinstance(answer, int)) for work in works}
    for work in works:
        work.close()
    assert found == processes("Models") and len(found) == 2


@pytest.mark.parametrize("how", ["stopped", "closed"])
def test_a_work_that_nobody_waits_for_ends_on_its_replica(
    backend: RayBackend, choice: PairChoice, tmp_path: Path, how: str
) -> None:
    stop, ended = threading.Event(), tmp_path / "ended"
    work = backend.using(choice, Counting(ended), stop)
    assert any(answer == 0 for answer in work)
    assert not ended.exists()
    if how == "stopped":
        stop.set()
        assert len(list(work)) < 100
    else:
        work.close()
    wait_until(ended.exists)


def test_a_replica_refuses_what_was_sent_past_the_page(backend: RayBackend, choice: PairChoice) -> None:
    hostile = Using(choice, Decode(PROMPT, Settings(max_new_tokens=10**9)))
    with pytest.raises(BadInput, match="max_new_tokens"):
        list(backend._answers(hostile, threading.Event()))


def test_the_run_of_a_replica_that_is_killed_is_begun_again_on_another_and_says_so(
    backend: RayBackend, choice: PairChoice
) -> None:
    had: list[int] = []

    def parts(models: Backend, stop: threading.Event) -> Iterator[Any]:
        steps = 0
        for answer in models.using(choice, Located(Decode(PROMPT, SETTINGS), pause=0.1), stop):
            if isinstance(answer, int):
                had.append(answer)
                continue
            yield answer
            if isinstance(answer, Step):
                steps += 1
                if steps == 3:
                    os.kill(had[0], signal.SIGKILL)

    shown = list(shown_steps(backend, Asked("run", parts), threading.Event()))
    assert len(set(had)) == len(had) == 2
    assert t("app.begun_again") in shown[-1].line["text"] and shown[-1].line["mood"] == "done"
    ran = shown[-1].run.record.trace()
    assert texts(Step(round_, None) for round_ in ran.rounds) == answers(ModelShelf(), choice, SETTINGS)
    views = [step.view for step in shown if step.view and "again" in step.view]
    assert views[0]["again"]["rounds"] == 0 and {view["again"]["mark"] for view in views} == {views[0]["again"]["mark"]}


def test_a_work_whose_machines_go_away_twice_ends_in_a_sentence(
    backend: RayBackend, choice: PairChoice, tmp_path: Path
) -> None:
    wait_until(lambda: len(processes("Models")) == 2 and backend.warm(choice).loaded)
    told: list[Any] = []
    with pytest.raises(BadInput, match="twice"):
        for answer in backend.using(choice, Counting(tmp_path / "ended"), threading.Event()):
            told.append(answer)
            if isinstance(answer, int) and answer > 600:
                os.kill(answer, signal.SIGKILL)
    assert sum(isinstance(answer, Waiting) and answer.again for answer in told) == 1


def test_a_page_that_is_killed_comes_back_and_the_models_have_stayed(
    url: str, backend: RayBackend, choice: PairChoice
) -> None:
    wait_until(lambda: len(processes("Models")) == 2 and backend.warm(choice).loaded)
    ask = {"api_name": "/decode", **SETTINGS.to_dict()}
    before, models, (page,) = Client(url, verbose=False).predict(PROMPT, **ask), processes("Models"), processes("Page")
    os.kill(page, signal.SIGKILL)
    wait_until(lambda: processes("Page") - {page} and answers_http(url))
    after = Client(url, verbose=False).predict(PROMPT, **ask)
    assert after["output"] == before["output"] and len(after["output"]["ids"]) == SETTINGS.max_new_tokens
    assert processes("Models") == models


def answers_http(url: str) -> bool:
    try:
        return urllib.request.urlopen(url, timeout=10).status == 200
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False
