"""Who comes: each with a prompt and a seed of their own, so that an answer tells whose it is."""

from __future__ import annotations

import random
from dataclasses import dataclass

# Of lengths that differ a good deal; their number and that of the subjects share no divisor, so all pairs come.
_OPENINGS = (
    "Tell me about {}.",
    "List three facts about {}.",
    "Write a short story in which {} surprises somebody who thought that nothing could surprise them any more.",
    "Why do people like {}?",
    "I have to give a talk to a class of ten-year-olds tomorrow morning. They know nothing about my topic, they get bored "
    "within a minute, and the only thing that I could find at home to show to them is an old photograph. My topic is {}. "
    "How should I begin, what should I leave out, and which question should I ask them at the end?",
    "Explain {} to a friend, in two sentences.",
    "Here is the first line of a poem about {}: 'It waited where the river bends.' Write the next three lines.",
)
_SUBJECTS = (
    "a lighthouse", "the tides", "bread", "an old clock", "honey bees", "a night train", "the desert", "glass",
    "a paper map", "snow", "the violin", "a harbour town", "salt", "a borrowed bicycle", "volcanoes", "tea",
)  # fmt: skip
SOONEST_SECONDS, LATEST_SECONDS = 0.05, 20.0  # when a tab may be closed, after its visitor asked
SEEDS_OF_A_WAVE = 100_000


@dataclass(frozen=True)
class Visitor:
    """One page. temperature: 0 or 1. arrives: seconds after the wave began. leaves: seconds after asking at which the
    tab is closed, None for one who stays until the run is over."""

    number: int
    prompt: str
    temperature: float
    seed: int
    tokens: int
    arrives: float = 0.0
    leaves: float | None = None


def crowd(count: int, tokens: int, wave: int = 0, within: float = 0.0, closing: float = 0.0) -> list[Visitor]:
    """`count` visitors who come at random within so many seconds; the share `closing` of them close their tabs.

    The same visitors come in every wave, with the same prompts, but at other moments and with other seeds. Every second
    one decodes greedily.
    """
    chance = random.Random(wave)
    closers = set(chance.sample(range(count), round(closing * count)))
    return [
        Visitor(
            number,
            prompt_of(number),
            temperature=float(number % 2),
            seed=SEEDS_OF_A_WAVE * wave + number,
            tokens=tokens,
            arrives=chance.uniform(0, within),
            leaves=_moment(chance) if number in closers else None,
        )
        for number in range(count)
    ]


def prompt_of(number: int) -> str:
    """A prompt that no other number has."""
    prompt = _OPENINGS[number % len(_OPENINGS)].format(_SUBJECTS[number % len(_SUBJECTS)])
    again = number // (len(_OPENINGS) * len(_SUBJECTS))
    return f"{prompt} (You told me {again} times already.)" if again else prompt


def _moment(chance: random.Random) -> float:
    """As likely in the queue as amid a run, whichever of the two is short: uniform in its logarithm."""
    return SOONEST_SECONDS * (LATEST_SECONDS / SOONEST_SECONDS) ** chance.random()
