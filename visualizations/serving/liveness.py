"""Whether the page is there, told without making it."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send


class ThereAtOnce:
    """Answers HEAD of the page itself. Gradio asks that when it launches, has three seconds' patience and then refuses to
    start, and a busy machine may take longer to make a page that nobody will see."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["type"] == "http" and scope["method"] == "HEAD" and scope["path"] == "/"
        await (Response() if asked else self._app)(scope, receive, send)
