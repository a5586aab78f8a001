"""What a page of the lesson is: a figure of the app, few words, one question, and the answer with its reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gradio.components import Component

MOST_WORDS = 80


@dataclass(frozen=True)
class Option:
    """One of several answers. why: the reason why it is right or wrong, told to who chose it."""

    said: str
    why: str
    right: bool


@dataclass(frozen=True)
class Choice:
    """A question that is answered by one of `options`; exactly one is right."""

    options: tuple[Option, ...]


@dataclass(frozen=True)
class Blank:
    """A number to be filled in.

    said: the sentence around it, with "___" in its place, or what is asked for. Within `tolerance` is right.
    wrong: (number, reason) of mistakes that people make; any other wrong number is told `why` alone.
    """

    said: str
    number: float
    tolerance: float
    why: str
    wrong: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class Blanks:
    """A question that is answered by numbers."""

    blanks: tuple[Blank, ...]


@dataclass(frozen=True)
class Asked:
    """A question that people really ask, and its answer with numbers that were computed."""

    question: str
    answer: str


@dataclass(frozen=True)
class Page:
    """A page of the lesson.

    words: at most `MOST_WORDS`. figure: creates the page's figure, a component of the app, in the column that is
    open. task: the question. answer: None where the figure itself asks and judges. reason: told once it is answered.
    covered: the figure shows the answer, so a cover lies on it until one has answered, or lifts it.
    """

    key: str
    title: str
    words: str
    figure: Callable[[], Component]
    task: str
    answer: Choice | Blanks | None
    reason: str
    asked: tuple[Asked, ...] = ()
    covered: bool = False
