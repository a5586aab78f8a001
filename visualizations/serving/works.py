"""The work that most ask for: a run that begins with its prompt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specdec.settings import Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.serving.backend import Work, run_seconds
from visualizations.serving.inputs import checked_prompt, checked_settings

if TYPE_CHECKING:
    from specdec.models.pairs import Pair


@dataclass(frozen=True)
class Decode(Work[Iterator[Trace | Step]]):
    """`specdec.recording.steps`."""

    prompt: str
    settings: Settings

    def __call__(self, pair: Pair) -> Iterator[Trace | Step]:
        from specdec import recording  # here, because it costs torch: the page opens without

        return recording.steps(pair, self.prompt, self.settings)

    def checked(self) -> Decode:
        return Decode(checked_prompt(self.prompt), checked_settings(self.settings))

    @property
    def tokens(self) -> int:
        return self.settings.max_new_tokens

    @property
    def seconds(self) -> float:
        return run_seconds(self.tokens)
