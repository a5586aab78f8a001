"""Prompts of many kinds, made from templates, free texts and what the target itself wrote.

All wording here is our own. Nothing comes from a benchmark, so that benchmarks stay unseen.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from specdec.distill.corpus import Corpus
from specdec.distill.subjects import FIRST_NAMES, GOODS, HUMANITIES, SCIENCE
from specdec.distill.wording import (
    CODE_TASKS,
    EXTRACTIONS,
    FOLLOW_UPS,
    LANGUAGES,
    LINE_TASKS,
    LINES,
    OPENINGS,
    PUZZLES,
    QUESTIONS,
    ROLE_QUESTIONS,
    ROLES,
    SUMMARISE,
    TRANSLATE,
    WRITING,
)

SHORT_KINDS = {
    "translation": 20,
    "qa": 18,
    "maths": 18,
    "own": 24,
    "writing": 6,
    "roleplay": 5,
    "coding": 5,
    "reasoning": 5,
    "science": 6,
    "humanities": 5,
}
LONG_KINDS = {"summary": 34, "rag": 36, "extraction": 14, "turns": 16}


@dataclass(frozen=True)
class Prompt:
    """What the target continues.

    Attributes:
        kind: one of the kinds above, or "raw".
        messages: alternating user and assistant texts, starting with a user's; empty for raw text.
        raw: the beginning of a text without a chat template; only for kind "raw".
        stops: how many end-of-turn tokens the target writes before it is done.
    """

    kind: str
    messages: tuple[str, ...] = ()
    raw: str = ""
    stops: int = 1


@dataclass(frozen=True)
class Sources:
    """What the prompts of a batch may use: free texts, texts by the target, and finished conversations."""

    corpus: Corpus
    written: list[str]
    conversations: list[tuple[str, str]]


def make_prompts(count: int, shares: dict[str, int], sources: Sources, chance: random.Random) -> list[Prompt]:
    """`count` prompts whose kinds are drawn by `shares`."""
    kinds = chance.choices(list(shares), weights=list(shares.values()), k=count)
    return [make_prompt(kind, sources, chance) for kind in kinds]


def make_prompt(kind: str, sources: Sources, chance: random.Random) -> Prompt:
    """One prompt of a kind."""
    if kind == "own":
        return Prompt(kind, stops=2)
    if kind == "raw":
        return Prompt(kind, raw=_fill(chance.choice(OPENINGS), sources.corpus, chance))
    if kind == "turns" and not sources.conversations:
        kind = "qa"
    if kind == "turns":
        question, answer = chance.choice(sources.conversations)
        return Prompt(kind, (question, answer, _fill(chance.choice(FOLLOW_UPS), sources.corpus, chance)))
    return Prompt(kind, (MAKERS[kind](sources, chance),))


def _fill(template: str, corpus: Corpus, chance: random.Random) -> str:
    """Replace {person}, {place}, {thing}, {other}, {name}, {n}, {m}, {year}, {topic}, {language}, {role} by random ones."""
    things = corpus.things or list(GOODS)
    return template.format(
        person=chance.choice(corpus.people or list(FIRST_NAMES)),
        place=chance.choice(corpus.places or ["Lisbon"]),
        thing=chance.choice(things),
        other=chance.choice(things),
        topic=chance.choice(SCIENCE + HUMANITIES),
        name=chance.choice(FIRST_NAMES),
        language=chance.choice(LANGUAGES),
        role=chance.choice(ROLES),
        year=chance.randint(1780, 2024),
        n=chance.randint(2, 12),
        m=chance.randint(20, 500),
    )


def passage(sources: Sources, chance: random.Random, words: int) -> str:
    """About `words` words of prose: three times in five by the target, else from the free texts."""
    parts: list[str] = []
    pool = sources.written if sources.written and chance.random() < 0.6 else sources.corpus.paragraphs
    while sum(len(part.split()) for part in parts) < words:
        parts.append(chance.choice(pool))
    return " ".join(" ".join(parts).split(" ")[:words])


def _translation(sources: Sources, chance: random.Random) -> str:
    sentence = chance.choice(sources.corpus.sentences)
    if chance.random() < 0.15:
        sentence += " " + chance.choice(sources.corpus.sentences)
    if chance.random() < 0.5:  # the spaced punctuation of translation data sets
        sentence = re.sub(r"\s*([.,:;!?\"()])", r" \1", sentence)
    return chance.choice(TRANSLATE).format(text=sentence)


def _summary(sources: Sources, chance: random.Random) -> str:
    return chance.choice(SUMMARISE).format(text=passage(sources, chance, chance.randint(60, 480)))


def _qa(sources: Sources, chance: random.Random) -> str:
    question = _fill(chance.choice(QUESTIONS), sources.corpus, chance)
    return question if chance.random() < 0.6 else question[0].upper() + question[1:].rstrip("?") + "?"


def _rag(sources: Sources, chance: random.Random) -> str:
    passages = [passage(sources, chance, chance.randint(50, 130)) for _ in range(chance.randint(2, 4))]
    words = [word.strip(".,;:()\"'") for word in chance.choice(passages).split() if len(word) > 5] or ["this"]
    question = chance.choice(
        (
            _fill(chance.choice(QUESTIONS), sources.corpus, chance),
            f"what does the text say about {chance.choice(words)}?",
            f"what is {chance.choice(words)}?",
            f"how is {chance.choice(words)} related to {chance.choice(words)}?",
            "what is the main idea?",
            f"why is {chance.choice(words)} important?",
            f"describe {chance.choice(words)} in a few words.",
        )
    )
    if chance.random() < 0.7:
        return "\n".join(passages) + "\n" + question
    numbered = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(passages, start=1))
    return f"Answer the question with the passages below.\n\n{numbered}\n\nQuestion: {question}"


def _extraction(sources: Sources, chance: random.Random) -> str:
    if chance.random() < 0.4:
        template = chance.choice(LINES)
        lines = (_fill(template, sources.corpus, chance) for _ in range(chance.randint(3, 8)))
        numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
        return f"{chance.choice(LINE_TASKS)}\n{numbered}"
    return f"{chance.choice(EXTRACTIONS)}\n\n{passage(sources, chance, chance.randint(50, 220))}"


def _maths(sources: Sources, chance: random.Random) -> str:
    if chance.random() < 0.2:
        a, b, c = (chance.randint(2, 90) for _ in range(3))
        return chance.choice(
            (
                f"What is {a} * {b} + {c}?",
                f"Solve for x: {a}x + {b} = {c}.",
                f"Find the area of a triangle with base {a} and height {b}.",
                f"If f(x) = {a % 9 + 1}x^2 - {b}x + {c}, what is f({c % 6})?",
                f"What is the probability of rolling a {a % 6 + 1} twice in {b % 5 + 2} rolls?",
                f"A number is divided by {a} and leaves remainder {a % 7}. What could it be?",
                f"What are the divisors of {a * b}?",
            )
        )
    one, two = chance.sample(FIRST_NAMES, 2)
    thing, other = chance.sample(GOODS, 2)
    a, b, c, d = (
        chance.randint(2, 60),
        chance.randint(2, 12),
        chance.randint(2, 40),
        chance.choice((10, 20, 25, 30, 50, 75)),
    )
    start = chance.choice(
        (
            f"{one} has {a} {thing} and buys {b} more boxes with {c} {thing} in each.",
            f"{one} sells {thing} for ${c} each. In one week, {one} sold {a} {thing} and gave {b} to {two}.",
            f"There are {a} {thing} and {c} {other} in a store. {two} takes {b} of each every day.",
            f"{one} earns ${c} an hour and works {b} hours a day, {chance.randint(3, 6)} days a week.",
            f"A train travels {a * 5} miles in {b} hours. {one} drives the same way {c} mph slower.",
            f"{one} is {a} years old. {two} is {b} times as old as {one} will be in {c % 9 + 1} years.",
            f"A recipe needs {b} cups of flour for {c} {thing}. {one} wants to bake {a * 2} {thing}.",
            f"{one} buys {b} {thing} at ${c} and {a} {other} at ${b} each. There is a discount of {d}% on the {thing}.",
            f"{one} read {a} pages on Monday, {b} times as many on Tuesday, and {d}% of the rest on Wednesday.",
            f"{one} and {two} share {a * b} {thing}. {one} gets {b} more than {two}.",
        )
    )
    end = chance.choice(
        (
            f"How many {thing} are left?",
            "How much money does that make in total?",
            f"How many does {one} have now?",
            "How much more is needed?",
            f"What is the total after {b} weeks?",
            f"How many {other} are there for each {thing}?",
            "How long does it take?",
            f"How old is {two}?",
            "How much does each one cost?",
            f"If {two} then takes {d}% of them, how many remain?",
        )
    )
    return f"{start} {end}"


def _from(templates: tuple[str, ...]) -> Callable[[Sources, random.Random], str]:
    return lambda sources, chance: _fill(chance.choice(templates), sources.corpus, chance)


def _roleplay(sources: Sources, chance: random.Random) -> str:
    return _fill(chance.choice(ROLE_QUESTIONS), sources.corpus, chance)


MAKERS: dict[str, Callable[[Sources, random.Random], str]] = {
    "translation": _translation,
    "summary": _summary,
    "qa": _qa,
    "rag": _rag,
    "extraction": _extraction,
    "maths": _maths,
    "writing": _from(WRITING),
    "roleplay": _roleplay,
    "coding": _from(CODE_TASKS),
    "reasoning": _from(PUZZLES),
    "science": _from(
        tuple(
            f"{ask} {{topic}}{end}"
            for ask, end in (
                ("Explain", "."),
                ("What is", "?"),
                ("How does one measure or describe", "?"),
                ("Describe the main ideas behind", " and give an example."),
                ("What are the causes and effects of", "?"),
                ("Why does", " matter, and how is it used?"),
            )
        )
    ),
    "humanities": _from(
        tuple(
            f"{ask} {{topic}}{end}"
            for ask, end in (
                ("Discuss the history of", "."),
                ("Provide an overview of", " with examples."),
                ("What were the consequences of", "?"),
                ("Write an outline of a lesson on", " for high school students."),
                ("Compare two views of", "."),
                ("How did", " shape the modern world?"),
            )
        )
    ),
}
