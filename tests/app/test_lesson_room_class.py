"""A whole class in a room over HTTP, while a run holds the queue for the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from gradio_client import Client

from tests.class_page import PATIENCE_SECONDS, QUESTIONS, Work, class_page
from visualizations.lesson.room import Rooms

STUDENTS = 60
OPTIONS = {question["key"]: len(question["options"]) for question in QUESTIONS}
ASKED = ("coin.0", "refill", "faster")
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def work() -> Work:
    return Work()


@pytest.fixture(scope="module")
def url(work: Work) -> Iterator[str]:
    with class_page(Rooms(), work) as url:
        yield url


@pytest.fixture(scope="module")
def ask(url: str) -> Iterator[Ask]:
    """ask(function, **asked): what the page's server answers to its component."""
    with httpx.Client(base_url=url, timeout=60) as http:
        shown = http.get("config").json()["components"]
        component = next(one["id"] for one in shown if one["props"].get("elem_id") == "room")

        def post(function: str, **asked: Any) -> Any:
            body = {"data": asked, "component_id": component, "fn_name": function, "session_hash": "a class"}
            return http.post("gradio_api/component_server/", json=body).raise_for_status().json()

        yield post


def browser(number: int) -> str:
    return f"{number:032x}"


def test_sixty_students_vote_while_the_models_are_busy(url: str, work: Work, ask: Ask) -> None:
    visitor = Client(url, verbose=False)
    run, waiting = (visitor.submit(api_name="/hold") for _ in range(2))
    assert work.begun.wait(PATIENCE_SECONDS)
    room = ask("open_room")

    def student(number: int) -> list[Any]:
        joined = ask("join_room", code=room["code"], browser=browser(number))
        votes = [{"question": q, "answer": (number + n) % OPTIONS[q]} for n, q in enumerate(ASKED)]
        return [joined, *(ask("cast_vote", code=room["code"], browser=browser(number), **vote) for vote in votes)]

    with ThreadPoolExecutor(16) as threads:
        told = list(threads.map(student, range(STUDENTS)))
    counts = ask("read_counts", **room)
    assert not work.over.is_set() and not run.done() and not waiting.done()
    assert told == [[{"code": room["code"]}, *[{"first": True}] * len(ASKED)]] * STUDENTS
    assert counts["students"] == STUDENTS
    for n, question in enumerate(ASKED):
        voted = Counter((student + n) % OPTIONS[question] for student in range(STUDENTS))
        assert counts["votes"][question] == [voted[option] for option in range(OPTIONS[question])]
    assert ask("join_room", code=room["code"], browser=browser(STUDENTS))["why"] == "wrong"
    work.over.set()
    assert run.result(timeout=60) and waiting.result(timeout=60)


def test_counts_are_for_the_teacher_of_the_room_alone(ask: Ask) -> None:
    room, other = ask("open_room"), ask("open_room")
    ask("join_room", code=room["code"], browser=browser(1))
    voted = ask("cast_vote", code=room["code"], browser=browser(1), question="faster", answer=1)
    assert voted == {"first": True}, "a student is told no count"
    for key in ({}, {"key": ""}, {"key": browser(1)}, {"key": other["key"]}):
        for function in ("read_counts", "close_room"):
            answer = ask(function, code=room["code"], **key)
            assert set(answer) == {"refused", "why"} and answer["why"] == "wrong"
    assert ask("read_counts", **other)["votes"]["faster"] == [0, 0]
    assert ask("read_counts", **room)["votes"]["faster"] == [0, 1]
    assert ask("close_room", **room) == {}
    assert ask("read_counts", **room)["why"] == "over"


def test_the_room_adds_nothing_to_the_endpoints_for_programs(url: str) -> None:
    api = Client(url, verbose=False).view_api(return_format="dict", print_info=False)
    assert list(api["named_endpoints"]) == ["/hold"] and not api["unnamed_endpoints"]
