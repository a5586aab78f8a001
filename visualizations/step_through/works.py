"""What goes on from a run on screen, and what is held against it, as works for whoever has the models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specdec.settings import Settings
from specdec.trace.growing import Step
from specdec.trace.session import Change
from specdec.trace.trace import Trace
from visualizations.serving.backend import Work, run_seconds
from visualizations.serving.inputs import checked_settings, checked_trace
from visualizations.step_through.beside import Beside, decode_beside

if TYPE_CHECKING:
    from specdec.models.pairs import Pair


@dataclass(frozen=True)
class Branch(Work[Iterator[Trace | Step]]):
    """`specdec.branching.branch`."""

    parent: Trace
    at: int
    change: Change
    settings: Settings | None = None

    def __call__(self, pair: Pair) -> Iterator[Trace | Step]:
        from specdec.branching import branch  # here, because it costs torch: the page opens without

        return branch(pair, self.parent, self.at, self.change, self.settings)

    def checked(self) -> Branch:
        """Whether place and change fit the parent is checked when the branch begins."""
        settings = checked_settings(self.settings) if self.settings else None
        return Branch(checked_trace(self.parent), self.at, self.change, settings)

    @property
    def tokens(self) -> int:
        return (self.settings or self.parent.settings).max_new_tokens

    @property
    def seconds(self) -> float:
        return run_seconds(self.tokens)


@dataclass(frozen=True)
class Resume(Work[Iterator[Step]]):
    """`specdec.branching.resume`."""

    ended: Trace

    def __call__(self, pair: Pair) -> Iterator[Step]:
        from specdec.branching import resume

        return resume(pair, self.ended)

    def checked(self) -> Resume:
        return Resume(checked_trace(self.ended))

    @property
    def tokens(self) -> int:
        return self.ended.settings.max_new_tokens - len(self.ended.output.ids)

    @property
    def seconds(self) -> float:
        return run_seconds(self.tokens)


@dataclass(frozen=True)
class Plainly(Work[Beside]):
    """The prompt of a run by plain decoding, held against it."""

    ran: Trace

    def __call__(self, pair: Pair) -> Beside:
        return decode_beside(pair, self.ran)

    def checked(self) -> Plainly:
        return Plainly(checked_trace(self.ran))
