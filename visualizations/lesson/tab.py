"""Tab 5, "Lesson": its pages in columns of which one is seen, and the shell that turns them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import gradio as gr

from visualizations.lesson.coin_game import COINS
from visualizations.lesson.cover import Cover
from visualizations.lesson.glossary import build_glossary
from visualizations.lesson.page import Page
from visualizations.lesson.pages import lesson_pages
from visualizations.lesson.pages.coin import KEY as COIN
from visualizations.lesson.question import Question
from visualizations.lesson.room import Rooms
from visualizations.lesson.room_view import ClassQuestion, build_room
from visualizations.lesson.shell import LessonShell
from visualizations.text import t

VOTED = ("refill", "faster")


def build_lesson(rooms: Rooms) -> None:
    """Create the tab. Everything on it happens in the browser, but for the votes of a class, which `rooms` counts; a
    page is made there when it is first opened."""
    pages = lesson_pages()
    shell = LessonShell(pages, elem_id="lesson-shell")
    following = [page.key for page in pages[1:]]
    shell.opens([_column(page, after) for page, after in zip_longest(pages, following)])
    build_room(class_questions(pages), rooms)


def class_questions(pages: Sequence[Page]) -> list[ClassQuestion]:
    """What a class votes on: each coin, and the questions of `VOTED`."""
    verdicts = [t(f"lesson.coin_game.{name}") for name in ("keep", "reject")]
    coins = [
        ClassQuestion(
            key=f"{COIN}.{index}", title=t("lesson.coin_game.place", coin=index + 1, coins=COINS), options=verdicts
        )
        for index in range(COINS)
    ]
    named = {page.key: page for page in pages}
    return coins + [
        ClassQuestion(key=key, title=named[key].task, options=[option.said for option in named[key].answer.options])
        for key in VOTED
    ]


def _column(page: Page, following: str | None) -> gr.Column:
    with gr.Column(visible=False, elem_id=f"lesson-{page.key}", elem_classes="lesson-page") as column:
        gr.Markdown(f"## {page.title}", elem_classes="lesson-title")
        gr.Markdown(page.words, elem_classes="lesson-words")
        if page.answer is None:  # then the figure is what answers it
            gr.Markdown(page.task, elem_classes=["lesson-words", "lesson-task"])
        with gr.Column(elem_classes="lesson-stage"):
            if page.covered:
                Cover(page.key)
            page.figure()
        Question(page, following, elem_id=f"lesson-question-{page.key}")
        if following is None:
            build_glossary()
    return column
