"""The page is made once for each address that it is asked at, and never for one visitor and shown to another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from visualizations.serving.kept_page import MOST_ADDRESSES, KeptPage


@pytest.fixture
def made() -> list[str]:
    return []


@pytest.fixture
def client(made: list[str]) -> Iterator[TestClient]:
    """Of a page that says where it was asked for, and which of those made it is."""

    def page(request: Request) -> HTMLResponse:
        made.append(request.headers["host"])
        answer = HTMLResponse(f"{request.headers['host']} {len(made)} {'word ' * 500}", 503 if "down" in request.query_params else 200)
        if "cookie" in request.query_params:
            answer.set_cookie("mine", "1")
        return answer

    kept = [Middleware(KeptPage), Middleware(GZipMiddleware, minimum_size=100)]
    with TestClient(Starlette(routes=[Route("/", page), Route("/other", page)], middleware=kept)) as client:
        yield client


def test_the_page_is_made_once_and_packed_once(client, made):
    first, second = client.get("/"), client.get("/?anything=1")
    assert first.text == second.text and len(made) == 1
    assert first.headers == second.headers and second.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize("name", ["host", "x-forwarded-host", "x-forwarded-proto", "x-gradio-server"])
def test_another_address_has_a_page_of_its_own(client, made, name):
    assert client.get("/").text != client.get("/", headers={name: "elsewhere"}).text
    assert client.get("/", headers={name: "elsewhere"}).text.split()[1] == "2" and len(made) == 2


def test_who_takes_it_unpacked_gets_it_unpacked(client):
    client.get("/")
    assert "content-encoding" not in client.get("/", headers={"accept-encoding": "identity"}).headers


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/other", {}),
        ("/?deep_link=x", {}),
        ("/?down=1", {}),
        ("/?cookie=1", {}),
        ("/", {"cookie": "access-token-1=x"}),
        ("/", {"authorization": "Bearer x"}),
    ],
)
def test_what_is_somebodys_own_or_no_page_is_made_anew(client, made, path, headers):
    client.get(path, headers=headers), client.get(path, headers=headers)
    assert len(made) == 2
    if path == "/":
        client.get("/")
        assert len(made) == 3, "nor was it kept for others"


def test_invented_addresses_do_not_fill_the_memory(client, made):
    client.get("/")
    for number in range(MOST_ADDRESSES):
        client.get("/", headers={"host": f"invented{number}"})
    assert client.get("/").text.split()[1] == str(MOST_ADDRESSES + 2), "the page unused longest made room"
