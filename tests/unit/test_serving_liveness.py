"""Whether the page is there is told without making it."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.middleware import Middleware

from visualizations.serving.liveness import ThereAtOnce


def test_only_a_question_whether_the_page_is_there_is_answered_at_once() -> None:
    made = []
    app = FastAPI(middleware=[Middleware(ThereAtOnce)])

    @app.api_route("/{path:path}", methods=["GET", "HEAD"])
    def page(path: str) -> str:
        made.append(path)
        return "page"

    client = TestClient(app)
    assert client.head("/").status_code == 200 and made == []
    assert client.get("/").json() == "page" and client.head("/other").status_code == 200
    assert made == ["", "other"]
