"""Whatever is done with the models, they are free within two seconds once nobody waits for it any more."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from specdec import recording
from specdec.exactness.loop_test import loop_test
from specdec.models.cancelling import Cancelled, cancelled_by
from specdec.settings import Settings
from specdec.timing.overhead import measure_overhead
from specdec.timing.prompts import own_prompts
from specdec.timing.roofline import measure_roofline
from tests.doing import Doing
from tests.sharing import share_once
from tests.slow_pair import LONG_PROMPT, slow_pair
from visualizations.is_it_faster.live import comparison_steps, machine_steps, race_steps, sweep_steps
from visualizations.serving.backend import Waiting
from visualizations.serving.inputs import PairChoice
from visualizations.serving.shelf import ModelShelf
from visualizations.serving.stopping import OpenRuns
from visualizations.step_through.live_run import run_steps
from visualizations.text import t
from visualizations.why_exact.draws import Request, draw_from_pair

CHOICE = PairChoice("smollm2-135m+student")
RAW = Settings(chat=False, max_new_tokens=200, gamma=4, temperature=1.0)
PROMPTS = tuple(own_prompts())
FREE_SECONDS = 2.0
PATIENCE_SECONDS = 20.0
AMID_SECONDS = 0.5  # after the models were lent

Work = Callable[[Any], Iterator[Any]]


@pytest.fixture(scope="module")
def pair(pair_of, tiny_llama) -> Any:
    return slow_pair(pair_of, tiny_llama)


@pytest.fixture(scope="module")
def slow_draft(pair_of, tiny_llama) -> Any:
    return slow_pair(pair_of, tiny_llama, target=0.0)


@pytest.fixture(scope="module")
def trace(pair_of, tiny_llama) -> Any:
    """A run behind a long prompt, made by the same models without their slowness."""
    return recording.decode(slow_pair(pair_of, tiny_llama, target=0.0, draft=0.0), LONG_PROMPT, RAW, max_new_tokens=3)


def nothing(pair: Any) -> Iterator[str]:
    yield "mine"


class Watched(ModelShelf):
    """A shelf that has its pair at hand and notes when it was lent."""

    def __init__(self, pair: Any) -> None:
        super().__init__(lambda choice, note: pair, share=share_once)
        self.lent = threading.Event()
        list(ModelShelf.using(self, CHOICE, Doing(nothing), threading.Event()))

    def using(self, *asked: Any) -> Iterator[Any]:
        return self._noted(super().using(*asked))

    def alone(self, *asked: Any) -> Iterator[Any]:
        return self._noted(super().alone(*asked))

    def _noted(self, events: Iterator[Any]) -> Iterator[Any]:
        with closing(events):
            for event in events:
                if event == Waiting():
                    self.lent.set()
                yield event

    def seconds_until_free(self) -> float:
        began = time.monotonic()
        assert "mine" in list(ModelShelf.using(self, CHOICE, Doing(nothing), threading.Event()))
        return time.monotonic() - began


def stopped_amid(
    shelf: Watched, steps: Callable[[threading.Event], Iterator[Any]], reached: Callable[[], bool] = lambda: True
) -> tuple[float, list[Any]]:
    """Seconds until the models are free after a stop, and all that was shown. reached: whether to stop now."""
    stop, shown = threading.Event(), []
    thread = threading.Thread(target=lambda: shown.extend(steps(stop)))
    thread.start()
    assert shelf.lent.wait(10)
    time.sleep(AMID_SECONDS)
    ends = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert time.monotonic() < ends, "the work never came to where it is to be stopped"
        time.sleep(0.05)
    stop.set()
    seconds = shelf.seconds_until_free()
    thread.join(10)
    return seconds, shown


def used(shelf: ModelShelf, work: Work) -> Callable[[threading.Event], Iterator[Any]]:
    return lambda stop: shelf.using(CHOICE, Doing(work), stop)


@pytest.mark.parametrize(("reader", "gamma"), [("pair", 0), ("pair", 4), ("slow_draft", 4)])
def test_reading_a_long_prompt(reader: str, gamma: int, request: pytest.FixtureRequest) -> None:
    models = request.getfixturevalue(reader)
    shelf, settings = Watched(models), RAW.changed(gamma=gamma)
    network, passes = (models.draft if reader == "slow_draft" else models.target).model, []
    hook = network.register_forward_pre_hook(lambda *_: passes.append(1))  # a run has a cache of its own, not a network
    seconds, shown = stopped_amid(
        shelf, lambda stop: run_steps(shelf, CHOICE, LONG_PROMPT, settings, stop), reached=lambda: bool(passes)
    )
    hook.remove()
    assert seconds < FREE_SECONDS
    assert shown[-1].line["text"] == t("app.stopped")


def race(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
    return race_steps(shelf, stop, CHOICE, PROMPTS[0], RAW)


def race_behind_a_long_prompt(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
    return race_steps(shelf, stop, CHOICE, LONG_PROMPT, RAW)


def comparison(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
    return comparison_steps(shelf, stop, CHOICE, RAW, PROMPTS, 5, False)


def comparison_with_generate(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
    return comparison_steps(shelf, stop, CHOICE, RAW, PROMPTS, 5, True)


def costs(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
    return machine_steps(shelf, stop, CHOICE, 4)


def sweep(shelf: ModelShelf, stop: threading.Event) -> Iterator[Any]:
    return sweep_steps(shelf, stop, CHOICE, RAW, PROMPTS, 5)


@pytest.mark.parametrize(
    "measure", [race, race_behind_a_long_prompt, comparison, comparison_with_generate, costs, sweep]
)
def test_a_measurement(pair: Any, measure: Callable[..., Iterator[Any]]) -> None:
    shelf = Watched(pair)
    seconds, shown = stopped_amid(shelf, partial(measure, shelf))
    assert seconds < FREE_SECONDS
    assert shown[-1].line["text"] == t("measuring.stopped") and shown[-1].line["mood"] == "done"


def test_generate_itself(pair: Any) -> None:
    """It is asked between its steps: the time to get there through a whole comparison would be long."""
    from specdec.timing.transformers_run import time_generate

    def work(lent: Any) -> Iterator[Any]:
        yield time_generate(lent, lent.encode("t1 t2", chat=False), RAW)

    shelf = Watched(pair)
    seconds, _ = stopped_amid(shelf, used(shelf, work))
    assert seconds < FREE_SECONDS


@pytest.mark.parametrize(
    "work",
    [measure_roofline, partial(measure_overhead, prompts=PROMPTS, settings=RAW)],
    ids=["roofline", "overhead"],
)
def test_a_measurement_of_the_command_line(pair: Any, work: Work) -> None:
    shelf = Watched(pair)
    seconds, shown = stopped_amid(shelf, used(shelf, work))
    assert seconds < FREE_SECONDS and shown == [Waiting()]


def test_a_sampling_test_at_a_late_token(pair: Any, trace: Any) -> None:
    shelf = Watched(pair)
    index = next(place for place, position in enumerate(trace.positions) if position.overlap is not None)
    work = partial(draw_from_pair, trace=trace, index=index, request=Request.checked("token", 1_000, 0))
    seconds, shown = stopped_amid(shelf, used(shelf, work))
    assert seconds < FREE_SECONDS and shown == [Waiting()]


def test_a_sampling_test_with_the_loop() -> None:
    import torch

    stop = threading.Event()
    threading.Timer(AMID_SECONDS, stop.set).start()
    law, began = torch.full((4,), 0.25, dtype=torch.float64), time.monotonic()
    with pytest.raises(Cancelled):
        loop_test(law, law, Settings(gamma=4), 10**6, check=cancelled_by(stop))
    assert time.monotonic() - began < AMID_SECONDS + FREE_SECONDS


def test_what_was_measured_before_the_stop_is_shown_with_its_number(pair_of, tiny_llama) -> None:
    pair = slow_pair(pair_of, tiny_llama, target=0.0, draft=0.0)
    shelf, stop, shown = Watched(pair), threading.Event(), []
    for step in comparison_steps(shelf, stop, CHOICE, RAW.changed(max_new_tokens=4), PROMPTS[:1], 20, False):
        shown.append(step)
        if step.values is not None:
            stop.set()
    assert shown[-1].line["text"] == t("measuring.stopped_at", done=2, total=40)
    assert shown[-1].values is not None


def test_a_cancelled_event_frees_the_models_amid_a_step(pair: Any) -> None:
    """What Gradio does when a program cancels its call: it cancels the task that waits for the next step."""
    shelf = Watched(pair)
    handle = OpenRuns().handler(lambda stop: shelf.steps(CHOICE, LONG_PROMPT, RAW, stop))

    async def visit() -> None:
        async for _ in handle(SimpleNamespace(session_hash="one")):
            pass

    async def cancelled() -> float:
        task = asyncio.create_task(visit())
        while not shelf.lent.is_set():
            await asyncio.sleep(0.05)
        await asyncio.sleep(AMID_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await asyncio.to_thread(shelf.seconds_until_free)

    assert asyncio.run(cancelled()) < FREE_SECONDS


def test_a_closed_event_frees_the_models_between_steps(pair: Any) -> None:
    shelf = Watched(pair)
    handle = OpenRuns().handler(lambda stop: shelf.steps(CHOICE, "t1 t2", RAW, stop))

    async def closed() -> float:
        events = handle(SimpleNamespace(session_hash="one"))
        while isinstance(await anext(events), Waiting):
            pass
        await events.aclose()
        return await asyncio.to_thread(shelf.seconds_until_free)

    assert asyncio.run(closed()) < FREE_SECONDS


def test_stop_waits_for_the_end_of_all_runs_of_its_session_and_of_no_other() -> None:
    runs, ended = OpenRuns(), []

    def visit(session: str, name: str) -> None:
        with runs.run(session) as stop:
            stop.wait(10)
            ended.append(name)

    threads = [threading.Thread(target=visit, args=run) for run in (("one", "a"), ("one", "b"), ("two", "c"))]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    runs.stop("one")
    assert sorted(ended) == ["a", "b"]
    runs.stop("two")
    assert sorted(ended) == ["a", "b", "c"]
    for thread in threads:
        thread.join(10)
