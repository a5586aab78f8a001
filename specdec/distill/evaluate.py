"""How often the target keeps what the student drafts, on a file of benchmark questions, with the engine itself."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from specdec.models.pairs import Pair
from specdec.recording import run
from specdec.settings import Settings


@dataclass(frozen=True)
class Question:
    """The first turn of a benchmark question."""

    category: str
    text: str


@dataclass
class Tally:
    """Counts over runs of one category.

    Attributes:
        tested: drafts that met a coin, by place in the draft.
        accepted: those that were kept, by place in the draft.
        overlap: summed Σ min(p, q) over the tested drafts.
        rounds, emitted: rounds and the tokens that came out of them.
    """

    tested: list[int] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)
    overlap: float = 0.0
    rounds: int = 0
    emitted: int = 0

    def add(self, tested: int, accepted: int, overlaps: list[float], emitted: int) -> None:
        """Count one round."""
        while len(self.tested) < tested:
            self.tested.append(0)
            self.accepted.append(0)
        for place in range(tested):
            self.tested[place] += 1
            self.accepted[place] += place < accepted
        self.overlap += sum(overlaps)
        self.rounds += 1
        self.emitted += emitted

    def report(self) -> dict[str, object]:
        """Acceptance rate (accepted ÷ tested) overall and by place, mean overlap, tokens per round."""
        tested = sum(self.tested)
        return {
            "acceptance": _ratio(sum(self.accepted), tested),
            "by_place": [_ratio(kept, seen) for kept, seen in zip(self.accepted, self.tested, strict=True)],
            "overlap": _ratio(self.overlap, tested),
            "tokens_per_round": _ratio(self.emitted, self.rounds),
            "tested": tested,
        }


def read_questions(path: Path, per_category: int | None) -> list[Question]:
    """First turns of a Spec-Bench file (JSON lines with `category`, `turns`): all, or the first of each category."""
    seen: dict[str, int] = defaultdict(int)
    questions = []
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        seen[entry["category"]] += 1
        if per_category is None or seen[entry["category"]] <= per_category:
            questions.append(Question(entry["category"], entry["turns"][0]))
    return questions


def evaluate(pair: Pair, questions: list[Question], settings: Settings) -> dict[str, dict[str, object]]:
    """Run every question through the speculative loop; a report for each category and for "all"."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for question in questions:
        prompt = pair.encode(question.text, chat=settings.chat)
        for step in run(pair, prompt, settings):
            target_probs = step.target_probs[: step.tested]
            overlaps = (
                target_probs.minimum(step.proposal.probs[: step.tested]).sum(dim=-1).tolist() if step.tested else []
            )
            for name in ("all", question.category):
                tallies[name].add(step.tested, step.accepted, overlaps, len(step.emitted))
    return {name: tally.report() for name, tally in tallies.items()}


def _ratio(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None
