"""The page's HTML, made once: a class that opens it within a minute would keep a core busy with making it anew."""

from __future__ import annotations

from collections import OrderedDict

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_ADDRESSES = 8
# What the page is made of besides the app: the address that it is asked at, and how it may be packed.
DECIDING = ("host", "x-forwarded-host", "x-forwarded-proto", "x-gradio-server", "accept-encoding")

Key = tuple[str, ...]


class KeptPage:
    """Answers GET of the page with what was answered before to the same headers, whoever asks.

    Never kept: what somebody who is logged in asks for, a deep link of Gradio's, an answer other than 200, and one that
    sets a cookie. It must stand outside of whatever packs the page, so that packing too is done once.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._pages: OrderedDict[Key, list[Message]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = _key(scope)
        if key is None:
            await self._app(scope, receive, send)
        elif key in self._pages:
            self._pages.move_to_end(key)
            for message in self._pages[key]:
                await send(message)
        else:
            await self._make(key, scope, receive, send)

    async def _make(self, key: Key, scope: Scope, receive: Receive, send: Send) -> None:
        made: list[Message] = []

        async def keep(message: Message) -> None:
            made.append(message)
            await send(message)

        await self._app(scope, receive, keep)
        if made[0]["status"] == 200 and "set-cookie" not in Headers(raw=made[0]["headers"]):
            self._pages[key] = made
            while len(self._pages) > MOST_ADDRESSES:
                self._pages.popitem(last=False)


def _key(scope: Scope) -> Key | None:
    """What the page that is asked for is kept under; None where it isn't the page, or not everybody's."""
    if scope["type"] != "http" or (scope["method"], scope["path"]) != ("GET", "/"):
        return None
    headers = Headers(scope=scope)
    if "authorization" in headers or "access-token" in headers.get("cookie", "") or b"deep_link" in scope["query_string"]:
        return None
    return (scope["scheme"], scope.get("root_path", ""), *(headers.get(name, "") for name in DECIDING))
