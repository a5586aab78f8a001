"""A small page with the room of a class on it, as the lesson has it, and an endpoint that holds the queue."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import gradio as gr

from tests.launched import free_port
from visualizations.components.model_events import MODEL_QUEUE
from visualizations.demo import launch_options
from visualizations.lesson.room import Rooms
from visualizations.lesson.room_view import ClassQuestion, build_room

PATIENCE_SECONDS = 120
QUESTIONS: list[ClassQuestion] = [
    *({"key": f"coin.{n}", "title": f"Position {n + 1}", "options": ["kept", "rejected"]} for n in range(10)),
    {"key": "refill", "title": "Where is it drawn from?", "options": ["p_big", "p_small", "The residual"]},
    {"key": "faster", "title": "Is a longer draft always faster?", "options": ["Yes", "No"]},
]


@dataclass(frozen=True)
class Work:
    """A run in the models' queue, called as the endpoint `hold`. Setting `over` ends it."""

    begun: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)

    def hold(self) -> bool:
        self.begun.set()
        return self.over.wait(PATIENCE_SECONDS)


@contextmanager
def class_page(rooms: Rooms | None, work: Work | None = None) -> Iterator[str]:
    """Its address."""
    work = work or Work()
    with gr.Blocks(analytics_enabled=False) as page:
        build_room(QUESTIONS, rooms)
        gr.api(work.hold, api_name="hold", **MODEL_QUEUE)
    page.queue()
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True, server_port=free_port(), **launch_options())
    try:
        yield url
    finally:
        work.over.set()
        page.close(verbose=False)
