"""What the page asks of whoever has the models, whether that is this process or others.

All that passes is plain, frozen data which can be pickled: a `Work` says what to do with a pair, and answers are
`Waiting`, then the work's own records. A stop event stays with the page; the backend looks at it for the work.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from specdec.settings import BadInput, Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.serving.inputs import PairChoice

if TYPE_CHECKING:
    from specdec.models.pairs import Pair
    from specdec.models.weights import Progress

# What a borrowed GPU is asked for: for a run, for each of its tokens, and for any other work. Little, for it is what is
# asked for that has to fit into a visitor's quota.
RUN_SECONDS, TOKEN_SECONDS, WORK_SECONDS = 5.0, 0.1, 60.0

R = TypeVar("R")
T = TypeVar("T")


class Work(ABC, Generic[R]):
    """What to do with a pair. Its kinds are frozen dataclasses of a module's top level, with fields of plain data."""

    @abstractmethod
    def __call__(self, pair: Pair) -> R:
        """Do it; a generator where the work has steps. It may import torch, which whoever asks need not have."""

    @abstractmethod
    def checked(self) -> Work[R]:
        """The same, checked again by whoever receives it from elsewhere; raises `BadInput`."""

    @property
    def tokens(self) -> int:
        """About how many tokens it decodes, by which the wait for it is reckoned."""
        return 0

    @property
    def seconds(self) -> float:
        """What a borrowed GPU is asked for."""
        return WORK_SECONDS


def run_seconds(tokens: int) -> float:
    """What a borrowed GPU is asked for, for a run of so many tokens at most."""
    return RUN_SECONDS + tokens * TOKEN_SECONDS


@dataclass(frozen=True)
class Loading:
    """How far the loading of a pair is. Neither loaded nor with an error, it is under way, or waits to begin."""

    choice: PairChoice
    progress: Progress | None = None
    loaded: bool = False
    error: BadInput | None = None


@dataclass(frozen=True)
class Waiting:
    """A work has no result yet. With neither a loading nor a place it has begun, and its models read the prompt.

    loading: its models load. place: in the line for the models, 1 for the next. seconds: about how long until its turn,
    None as long as nothing was measured. alone: it waits to have the machine for itself. behind: it waits for somebody
    who measures, and needs the machine for themselves. again: who had it went away, and it begins anew elsewhere; what
    came of it before counts no more.
    """

    loading: Loading | None = None
    place: int | None = None
    seconds: float | None = None
    alone: bool = False
    behind: bool = False
    again: bool = False

    @property
    def begun(self) -> bool:
        """Whether its turn has come."""
        return self.loading is None and self.place is None and not self.again


@dataclass(frozen=True)
class Shared:
    """Others have had the models beside a work, at least for a while: its clock is not that of a machine of its own.

    It comes at most once, between two of the work's results.
    """


class Backend(Protocol):
    """Whoever has the models. Every method may be called from any thread, and keeps nothing of a visitor.

    An iterator's work ends when its `stop` is set: at once while it waits, else before the next pass of a model,
    wherever it is. So does closing it. Either frees the place for the next. `BadInput` is raised for a pair that can't
    be loaded, a work that can't be done, and when too many wait already; a fault of one work ends that work alone.
    """

    def warm(self, choice: PairChoice) -> Loading:
        """How far the pair's loading is, which begins now if it was not asked for before."""
        ...

    def steps(
        self, choice: PairChoice, prompt: str, settings: Settings, stop: threading.Event
    ) -> Iterator[Waiting | Shared | Trace | Step]:
        """A run: `using` for `specdec.recording.steps`."""
        ...

    def using(
        self, choice: PairChoice, work: Work[Iterator[T]], stop: threading.Event
    ) -> Iterator[Waiting | Shared | T]:
        """What the work yields on a pair of its own, while others use the same models; `Waiting` until then, whenever
        there is news."""
        ...

    def alone(self, choice: PairChoice, work: Work[Iterator[T]], stop: threading.Event) -> Iterator[Waiting | T]:
        """The same for work that measures time: it waits until nobody uses any models; nobody begins before it ends."""
        ...

    def beside(self, name: str, work: Work[R], stop: threading.Event) -> R | None:
        """What the work returns, if nobody else wants any models until then; else None.

        It waits for nothing: the pair called `name` must be loaded, and nobody use or wait for models. Who asks for any
        ends it before the next pass, and so does setting `stop`.
        """
        ...


def is_result(event: Any) -> bool:
    """Whether an event of a backend is the work's own."""
    return not isinstance(event, (Waiting, Shared))
