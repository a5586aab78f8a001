"""Page 7: the rule that looks right, and why it keeps fewer drafts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from specdec.exactness import acceptance
from specdec.exactness.acceptance import Bounds
from specdec.trace.record import Position
from specdec.trace.trace import Trace
from visualizations.components.chart import Chart, chart_value
from visualizations.figures.labels import token_label
from visualizations.figures.position_bars import position_bars
from visualizations.lesson.page import Page
from visualizations.lesson.runs import recorded_run
from visualizations.lesson.written import written_choice, written_page
from visualizations.step_through.examples import examples, recorded_trace
from visualizations.text import t

KEY = "match"
SURE = 0.005  # a trace bounds what the rule keeps; the bounds have to be closer than what is told
SAMPLED, MATCHED = "facts", "match"  # recorded runs of one prompt and seed, by the two rules


@dataclass(frozen=True)
class Place:
    """A tested position of a recorded run, and how many drafts two rules keep there."""

    run: Trace
    position: Position
    by_token: float
    by_match: float


@lru_cache(maxsize=1)
def widest_place() -> Place:
    """Where the two rules differ most, among all sampled recorded runs."""
    return max(_places(), key=lambda place: place.by_token - place.by_match)


def _places() -> Iterator[Place]:
    for example in examples():
        run = recorded_trace(example)
        if run.settings.temperature == 0 or run.settings.rule != "token":
            continue
        for round_ in run.rounds:
            for position in round_.positions[: round_.tested]:
                kept = acceptance.at_position(position, run.settings)
                if kept["match"].high - kept["match"].low < SURE:
                    yield Place(run, position, _middle(kept["token"]), _middle(kept["match"]))


def match_page() -> Page:
    """Σ p_small · p_big against Σ min(p_small, p_big) at a real position."""
    place = widest_place()
    top = max(place.position.candidates, key=lambda candidate: candidate.p)
    numbers = {
        "token": f"{place.by_token:.2f}",
        "match": f"{place.by_match:.2f}",
        "lost": f"{place.by_token - place.by_match:.2f}",
        "top": token_label(top.text, top.id, top.bytes),
        "p": f"{top.p:.2f}",
        "q": f"{top.q:.2f}",
        "both": f"{top.p * (top.q or 0.0):.2f}",
        "twice": f"{kept_by_match_of_itself(place):.2f}",
        **_runs(),
    }
    return written_page(KEY, _figure, written_choice(KEY, "agree", numbers), numbers)


def kept_by_match_of_itself(place: Place) -> float:
    """How many drafts "sample and match" would keep at the place if the target drafted for itself: Σ p_big²."""
    position = place.position
    itself = replace(
        position,
        candidates=tuple(replace(candidate, q=candidate.p) for candidate in position.candidates),
        other=replace(position.other, q=position.other.p, overlap=position.other.p),
        overlap=1.0,
    )
    return _middle(acceptance.at_position(itself, place.run.settings)["match"])


def _runs() -> dict[str, str]:
    """The recorded run, as it was and as the other rule would have judged it; and the other rule's own run."""
    sampled, matched = recorded_run(SAMPLED), recorded_run(MATCHED)
    kept = acceptance.over_run(sampled)
    return {
        "prompt": sampled.prompt.text,
        "run_token": f"{_middle(kept['token']):.2f}",
        "run_match": f"{_middle(kept['match']):.2f}",
        "token_round": f"{sampled.metrics.tokens_per_round:.2f}",
        "match_round": f"{matched.metrics.tokens_per_round:.2f}",
    }


def _figure() -> Chart:
    chart = chart_value(position_bars(widest_place().position))
    return Chart(chart, name=t("lesson.pages.match.figure"), empty="", elem_id="lesson-match-bars")


def _middle(bounds: Bounds) -> float:
    return (bounds.low + bounds.high) / 2
