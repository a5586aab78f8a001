"""The example prompts, and the real runs of them that were recorded for the first look."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from specdec.models.catalogue import DEFAULT_PAIR
from specdec.settings import Settings
from specdec.trace.trace import Trace
from visualizations.serving.inputs import PairChoice

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Example:
    """A prompt with the settings that show what it is there to show. key: also names its recorded run."""

    key: str
    prompt: str
    settings: Settings
    choice: PairChoice

    @property
    def recording(self) -> Path:
        """Where the recorded run lies."""
        return _HERE / "recorded" / f"{self.key}.json"


@lru_cache(maxsize=1)
def examples() -> tuple[Example, ...]:
    """All examples in their order on screen."""
    entries = json.loads((_HERE / "examples.json").read_text("utf-8"))
    return tuple(
        Example(
            entry["key"],
            entry["prompt"],
            Settings.checked(**entry["settings"]),
            PairChoice(entry.get("pair", DEFAULT_PAIR)),
        )
        for entry in entries
    )


@lru_cache(maxsize=32)
def recorded_trace(example: Example) -> Trace:
    """The recorded run of an example, read once."""
    return Trace.from_json(example.recording.read_bytes())
