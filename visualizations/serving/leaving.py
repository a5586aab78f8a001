"""Whoever goes away before an answer is there, noticed by the connection that waits for it.

Gradio notices with a stream that each open page keeps for nothing else. A browser has six connections to a host over
HTTP/1.1, so pages that also run something would soon be all that it can open. A page of ours keeps none.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs

import gradio as gr
from anyio import to_thread
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ANSWERS_LATER = ("/gradio_api/queue/data", "/gradio_api/run/predict")


class NoticesLeaving:
    """Tells the page's `unload` events when a visitor's connection ends before what was asked for is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].rstrip("/").endswith(_ANSWERS_LATER):
            return await self._app(scope, receive, send)
        asked: asyncio.Queue[Message] = asyncio.Queue()
        watching = asyncio.create_task(self._watch(scope, receive, asked))
        try:
            await self._app(scope, asked.get, send)
        finally:
            watching.cancel()

    async def _watch(self, scope: Scope, receive: Receive, asked: asyncio.Queue[Message]) -> None:
        """Hand on what arrives, until nothing more does."""
        body = b""
        while (message := await receive())["type"] != "http.disconnect":
            body += message.get("body", b"")
            asked.put_nowait(message)
        session = _session(scope, body)
        if session:
            await to_thread.run_sync(_leave, scope["app"].get_blocks(), session)
        asked.put_nowait(message)


def _session(scope: Scope, body: bytes) -> Any:
    if scope["method"] == "GET":
        return parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [None])[0]
    try:
        return json.loads(body).get("session_hash")
    except (ValueError, AttributeError):
        return None


def _leave(page: gr.Blocks, session: str) -> None:
    for event in page.fns.values():
        if any(name == "unload" for _, name in event.targets):
            event.fn(gr.Request(session_hash=session))
