"""One visitor's page over HTTP: what a browser asks, in its order, and how long each answer takes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from secrets import token_hex
from time import monotonic
from typing import Any

import anyio
import httpx

from visualizations.load_test.page import Page
from visualizations.load_test.stream import RunOnPage
from visualizations.load_test.visitors import Visitor

API = "/gradio_api"
READ_EVERY_SECONDS = 0.5
LANE_SECONDS = 60.0  # plain decoding beside a run, which gives way to everybody


@dataclass(frozen=True)
class Visit:
    """What a visitor got.

    status: of the answer to the wish for the queue, None where none came. wait, total: seconds from the wish to the
    first round and to the end, None where there was none. trace: the run as JSON; text: what the view showed of it.
    fault: what broke the visit off; words: the last that the page said. closed: the tab was closed before the end.
    """

    visitor: Visitor
    status: int | None = None
    wait: float | None = None
    total: float | None = None
    trace: str | None = None
    text: str = ""
    fault: str = ""
    words: str = ""
    closed: bool = False


@dataclass(frozen=True)
class Read:
    """One of the page's own requests, which need no model. ok: it was answered as it should be."""

    kind: str
    seconds: float
    ok: bool


@asynccontextmanager
async def browsers(url: str, patience: float) -> AsyncIterator[httpx.AsyncClient]:
    """The connections of any number of visitors to the app at `url`; patience: seconds to wait for a word."""
    every = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=url, limits=every, timeout=patience, trust_env=False) as http:
        yield http


async def opened(http: httpx.AsyncClient) -> Page:
    """The page as a browser reads it."""
    return Page((await http.get("/config")).raise_for_status().json())


async def visit(http: httpx.AsyncClient, page: Page, visitor: Visitor, patience: float) -> Visit:
    """Open the page, press Run, and stay until the run is over or it is time to leave. Raises nothing of the network."""
    await anyio.sleep(visitor.arrives)
    tab = _Tab(http, page, visitor)
    try:
        (await http.get("/")).raise_for_status()
        with anyio.move_on_after(patience if visitor.leaves is None else visitor.leaves) as staying:
            await tab.ask()
        if not staying.cancelled_caught:
            await tab.stay()
    except (httpx.HTTPError, ValueError) as broken:
        return tab.told(fault=repr(broken))
    if staying.cancelled_caught and visitor.leaves is None:
        return tab.told(fault=f"no end within {patience:g} s")
    return tab.told(closed=staying.cancelled_caught)


async def wished(http: httpx.AsyncClient, page: Page, prompt: str, wish: dict[str, Any], **settings: Any) -> str | None:
    """The trace of a run that nobody measures, as JSON, if there is one: see `Page.run`."""
    session = token_hex(6)
    (await http.post(f"{API}/queue/join", json=page.run(session, prompt, wish, **settings))).raise_for_status()
    run = RunOnPage(page.places)
    async for message in _messages(http, session):
        run.hear(message)
        if run.over:
            break
    return run.trace


async def read(http: httpx.AsyncClient, page: Page, reads: list[Read], over: anyio.Event) -> None:
    """Until it is over: one more page, which every half second asks something that needs no model, into `reads`."""
    asked = (
        ("opening the page", "GET", "/", None),
        ("a sign of life", "HEAD", "/", None),
        ("the models' line", "POST", f"{API}/run/predict", page.look(token_hex(6))),
    )
    for kind, method, path, body in cycle(asked):
        if over.is_set():
            break
        began = monotonic()
        try:
            ok = (await http.request(method, path, json=body)).is_success
        except httpx.HTTPError:
            ok = False
        seconds = monotonic() - began
        reads.append(Read(kind, seconds, ok))
        with anyio.move_on_after(READ_EVERY_SECONDS - seconds):
            await over.wait()


class _Tab:
    """A page that is open: its session, and what it has heard."""

    def __init__(self, http: httpx.AsyncClient, page: Page, visitor: Visitor) -> None:
        self._http = http
        self._page = page
        self._visitor = visitor
        self._session = token_hex(6)
        self._status: int | None = None
        self._wait: float | None = None
        self._total: float | None = None
        self._refusal = ""
        self._run = RunOnPage(page.places)

    async def ask(self) -> None:
        """Press Run and listen to the end."""
        asked, who = monotonic(), self._visitor
        own = {"temperature": who.temperature, "seed": who.seed, "max_new_tokens": who.tokens}
        answer = await self._http.post(f"{API}/queue/join", json=self._page.run(self._session, who.prompt, {}, **own))
        self._status = answer.status_code
        if not answer.is_success:
            self._refusal = answer.text
            return
        async for message in _messages(self._http, self._session):
            self._run.hear(message)
            if self._wait is None and self._run.texts:
                self._wait = monotonic() - asked
            if self._run.over:
                break
        self._total = monotonic() - asked

    async def stay(self) -> None:
        """What a page asks once its run is over: the same prompt by plain decoding, where nobody waits."""
        if "beside" in self._run.line:
            body = self._page.lane(self._session, self._run.line)
            await self._http.post(f"{API}/run/predict", json=body, timeout=LANE_SECONDS)

    def told(self, fault: str = "", closed: bool = False) -> Visit:
        """What came of it."""
        run = self._run
        words = self._refusal or run.words
        return Visit(
            self._visitor, self._status, self._wait, self._total, run.trace, "".join(run.texts), run.fault or fault, words, closed
        )


async def _messages(http: httpx.AsyncClient, session: str) -> AsyncIterator[dict[str, Any]]:
    async with http.stream("GET", f"{API}/queue/data", params={"session_hash": session}) as stream:
        stream.raise_for_status()
        async for line in stream.aiter_lines():
            if line.startswith("data:"):
                yield json.loads(line.removeprefix("data:"))
