"""The course of a load test: everybody alone, the waves, tabs that are closed, and what is left afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

import anyio
import httpx

from specdec.trace.trace import Trace
from visualizations.load_test.client import Read, Visit, browsers, opened, read, visit, wished
from visualizations.load_test.judging import Parting, Verdict, judge
from visualizations.load_test.page import Page
from visualizations.load_test.server import Held, Server
from visualizations.load_test.visitors import Visitor, crowd
from visualizations.step_through.beside import NEAR

CLOSERS = 8
IDLE_SECONDS = 3.0
SETTLING_SECONDS, SETTLING_LOOKS_SECONDS = 40.0, 2.0  # a pool's idle threads are kept for ten seconds and more
LAST_TOKENS = 8


class NotMeasured(RuntimeError):
    """The app does not even answer one visitor rightly."""


@dataclass(frozen=True)
class Plan:
    """What is asked for. alone: how many greedy visitors are asked alone beforehand; within: seconds over which a wave
    arrives; closing: share of tabs that are closed; patience: seconds after which an answer is lost."""

    visitors: int
    tokens: int
    waves: int = 3
    within: float = 5.0
    closing: float = 0.0
    alone: int = 8
    patience: float = 300.0


@dataclass(frozen=True)
class Answer:
    """A visit and what it came to. near_tie: its greedy text parts from the one alone where rounding may decide."""

    visit: Visit
    verdict: Verdict
    near_tie: bool = False


@dataclass(frozen=True)
class Measured:
    """All that a load test found.

    waves: the answers of each. idle, loaded: the page's own requests, before and during the waves. held: by the server
    before the first wave, after each, and after the closed tabs; None where that can't be known. closed: tabs of those
    that were closed in the end. next_seconds: until the run after them was over, None where it was not right.
    """

    plan: Plan
    compared: int
    waves: tuple[tuple[Answer, ...], ...]
    idle: tuple[Read, ...]
    loaded: tuple[Read, ...]
    held: tuple[Held | None, ...]
    closed: int
    next_seconds: float | None


async def measure(server: Server, plan: Plan, tell: Callable[[str], None]) -> Measured:
    """Ask the app of `server`, which may be loading its models still. tell: takes a line on how far it is.

    Raises `NotMeasured`, `OtherPage`, or an error of httpx where nobody answers.
    """
    async with browsers(server.url, plan.patience) as http:
        page = await opened(http)
        tell("alone: every answer to compare with, and the models' loading")
        alone = await _alone(http, page, plan)
        idle = await _reads_while(http, page, lambda: anyio.sleep(IDLE_SECONDS))
    held = [await _settled(server, page, None)]
    loaded: list[Read] = []
    waves = []
    for wave in range(plan.waves):
        tell(f"wave {wave + 1} of {plan.waves}: {plan.visitors} visitors within {plan.within:g} s")
        visitors = crowd(plan.visitors, plan.tokens, wave + 1, plan.within, plan.closing)
        answers, reads = await _wave(server.url, page, visitors, alone, plan.patience)
        waves.append(answers)
        loaded += reads
        held.append(await _settled(server, page, held[0]))
    tell("tabs that are closed")
    closers = crowd(min(CLOSERS, plan.visitors), plan.tokens, plan.waves + 1, plan.within, closing=1.0)
    left, _ = await _wave(server.url, page, closers, {}, plan.patience)
    next_seconds = await _next(server.url, page, plan)
    held.append(await _settled(server, page, held[0]))
    closed = sum(answer.verdict.outcome == "closed" for answer in left)
    return Measured(plan, len(alone), tuple(waves), tuple(idle), tuple(loaded), tuple(held), closed, next_seconds)


async def _alone(http: httpx.AsyncClient, page: Page, plan: Plan) -> dict[int, Trace]:
    """The traces of the first greedy visitors, one after the other; raises `NotMeasured`."""
    greedy = [one for one in crowd(plan.visitors, plan.tokens) if one.temperature == 0]
    traces = {}
    for visitor in greedy[: max(1, plan.alone)]:
        answer = await visit(http, page, replace(visitor, arrives=0.0), plan.patience)
        verdict = judge(answer, {})
        if verdict.outcome != "answered" or answer.trace is None:
            raise NotMeasured(f"A visitor who was alone got no right answer: {verdict.outcome}, {verdict.why}")
        traces[visitor.number] = Trace.from_json(answer.trace)
    return traces


async def _wave(
    url: str, page: Page, visitors: Sequence[Visitor], alone: dict[int, Trace], patience: float
) -> tuple[tuple[Answer, ...], list[Read]]:
    """Everybody's answer, judged when all are there, and the page's own requests until then."""
    visits: list[Visit] = []
    async with browsers(url, patience) as http:

        async def come(visitor: Visitor) -> None:
            visits.append(await visit(http, page, visitor, patience))

        async def crowd_in() -> None:
            async with anyio.create_task_group() as coming:
                for visitor in visitors:
                    coming.start_soon(come, visitor)

        reads = await _reads_while(http, page, crowd_in)
        visits.sort(key=lambda one: one.visitor.number)
        answers = [await _answer(http, page, one, judge(one, alone)) for one in visits]
    return tuple(answers), reads


async def _reads_while(http: httpx.AsyncClient, page: Page, going_on: Callable[[], Awaitable[None]]) -> list[Read]:
    reads: list[Read] = []
    over = anyio.Event()
    async with anyio.create_task_group() as reader:
        reader.start_soon(read, http, page, reads, over)
        await going_on()
        over.set()
    return reads


async def _answer(http: httpx.AsyncClient, page: Page, visit_: Visit, verdict: Verdict) -> Answer:
    """A text that parts from the one alone at a near tie is right: passes that are shared round otherwise."""
    if verdict.parting is None:
        return Answer(visit_, verdict)
    odds = await odds_of(http, page, verdict.parting)
    if odds is not None and min(odds) >= NEAR * max(odds):
        return Answer(visit_, Verdict("answered"), near_tie=True)
    return Answer(visit_, verdict)


async def odds_of(http: httpx.AsyncClient, page: Page, parting: Parting) -> list[float] | None:
    """p_big of both tokens at temperature 1, which a greedy trace hasn't: of a branch of one token that begins there."""
    alone, at = parting.alone, parting.before
    change = {"kind": "replay", "value": None} if at is None else {"kind": "forced", "value": alone.positions[at].token_id}
    wish = {
        "wish": "branch", "run": "alone", "kept": {"trace": alone.to_json(), "run": "alone"},
        "at": at or 0, "change": change, "with_form": True,
    }  # fmt: skip
    try:
        trace = await wished(http, page, alone.prompt.text, wish, temperature=1, gamma=0, max_new_tokens=1)
    except httpx.HTTPError:
        return None
    if trace is None:
        return None
    law = {candidate.id: candidate.p for candidate in Trace.from_json(trace).positions[0].candidates}
    return [law[id_] for id_ in parting.ids] if set(parting.ids) <= set(law) else None


async def _next(url: str, page: Page, plan: Plan) -> float | None:
    """Seconds of a short run by one who comes when all have left."""
    [visitor] = crowd(1, min(LAST_TOKENS, plan.tokens), plan.waves + 2)
    async with browsers(url, plan.patience) as http:
        answer = await visit(http, page, visitor, plan.patience)
    return answer.total if judge(answer, {}).outcome == "answered" else None


async def _settled(server: Server, page: Page, before: Held | None) -> Held | None:
    """What the server holds once it holds no more than `before`, or keeps what it has for as long as we wait.

    No connection of ours is open meanwhile but for a look, which makes a pool let go of its idle threads.
    """
    deadline = monotonic() + SETTLING_SECONDS
    while True:
        await anyio.sleep(SETTLING_LOOKS_SECONDS if server.held() else 0)
        held = server.held()
        if held is None or before is None or not held.beyond(before) or monotonic() > deadline:
            return held
        async with browsers(server.url, SETTLING_SECONDS) as http:
            await http.post("/gradio_api/run/predict", json=page.look("settling"))
