"""The models of this process: loaded in the background, and lent to as many visitors at once as there are slots.

`ModelShelf` keeps the loaded pairs and nothing of any visitor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from specdec.models.batched import share as shared_by_passes
from specdec.models.cancelling import Cancelled, cancelled_by
from specdec.settings import BadInput, Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.serving import zero_gpu
from visualizations.serving.backend import Loading, Shared, Waiting, Work
from visualizations.serving.inputs import PairChoice
from visualizations.serving.loading import load_in_turn
from visualizations.serving.loads import Load, Loads, OneLoad
from visualizations.serving.places import Full, Place, Places, Position
from visualizations.serving.slots import usual_slots
from visualizations.serving.works import Decode
from visualizations.text import t

if TYPE_CHECKING:
    from specdec.models.batched import SharedPair
    from specdec.models.pairs import Pair

POLL_SECONDS = 0.2
NEWS_SECONDS = 2.0  # so far off an estimate may have become, counted down by whoever shows it, before it is told again

T = TypeVar("T")
R = TypeVar("R")
Lend = Callable[["SharedPair"], AbstractContextManager["Pair"]]


class ModelShelf:
    """A `Backend`: lends the pairs that it loads, to `slots` works at once, whichever pairs they use.

    load: where pairs come from. slots: as many as fit, unless given; a borrowed GPU is lent for one work at a time.
    share: makes a pair to be lent to so many at once.
    """

    def __init__(
        self,
        load: Load = load_in_turn,
        slots: int | None = None,
        share: Callable[[Pair, int], SharedPair] = shared_by_passes,
    ) -> None:
        self.slots = 1 if zero_gpu.on_zero_gpu() else slots or usual_slots()
        self._places = Places(self.slots)
        self._loads = Loads(load, lambda pair: share(pair, self.slots))

    def warm(self, choice: PairChoice) -> Loading:
        """See `Backend`."""
        return self._loads.warm(choice).told

    def steps(
        self, choice: PairChoice, prompt: str, settings: Settings, stop: threading.Event
    ) -> Iterator[Waiting | Shared | Trace | Step]:
        """See `Backend`."""
        return self.using(choice, Decode(prompt, settings), stop)

    def using(
        self, choice: PairChoice, work: Work[Iterator[T]], stop: threading.Event
    ) -> Iterator[Waiting | Shared | T]:
        """See `Backend`. On a borrowed GPU, whose passes are quick, a stop is noticed at the work's next step."""
        with self._place(work, alone=False) as place:
            yield from self._in_turn(choice, work, stop, place, lambda shared: shared.lend())

    def alone(self, choice: PairChoice, work: Work[Iterator[T]], stop: threading.Event) -> Iterator[Waiting | T]:
        """See `Backend`. What it is lent are the models themselves, as whoever shares none would have them."""
        with self._place(work, alone=True) as place:
            yield from self._in_turn(choice, work, stop, place, lambda shared: nullcontext(shared.pair))

    def beside(self, name: str, work: Work[R], stop: threading.Event) -> R | None:
        """See `Backend`."""
        shared = self._loads.loaded(name)
        # A borrowed GPU is lent by the second, out of the visitor's quota: not for what they didn't ask for.
        place = None if shared is None or zero_gpu.on_zero_gpu() else self._places.take_idle()
        if shared is None or place is None:
            return None

        def give_way() -> None:
            if self._places.others_than(place) or stop.is_set():
                raise Cancelled

        try:
            give_way()
            return work(shared.pair.cancellable(give_way))
        except Cancelled:
            return None
        finally:
            self._places.leave(place)

    @contextmanager
    def _place(self, work: Work[Any], alone: bool) -> Iterator[Place]:
        try:
            place = self._places.arrive(work.tokens, alone)
        except Full as full:
            if full.seconds is None:
                raise BadInput(t("app.line.full")) from None
            raise BadInput(t("app.line.full_until", seconds=max(1, round(full.seconds)))) from None
        try:
            yield place
        finally:
            self._places.leave(place)

    def _in_turn(
        self, choice: PairChoice, work: Work[Iterator[T]], stop: threading.Event, place: Place, lend: Lend
    ) -> Iterator[Waiting | Shared | T]:
        shared = yield from self._loaded(choice, stop)
        if shared is None:
            return
        self._places.enter(place, choice, shared.slots)
        if not (yield from self._in_line(place, stop)):
            return
        yield Waiting()
        told = False
        try:
            with lend(shared) as pair:
                lent = pair.cancellable(cancelled_by(stop))
                with closing(zero_gpu.run(choice, lent, work, work.seconds)) as results:
                    for number, result in enumerate(results):
                        if isinstance(result, Step):
                            self._places.decoded(place, result.round.emitted)
                        if number and place.shared and not told:
                            told = True
                            yield Shared()
                        yield result
            self._places.finished(place)
        except Cancelled:
            pass

    def _loaded(self, choice: PairChoice, stop: threading.Event) -> Generator[Waiting, None, SharedPair | None]:
        """The pair once it is loaded; None when `stop` was set before."""
        loading: OneLoad = self._loads.request(choice)
        try:
            while not loading.finished.wait(POLL_SECONDS):
                if stop.is_set():
                    return None
                yield Waiting(loading.told)
        finally:
            self._loads.leave(loading)
        if loading.error is not None:
            raise loading.error
        return loading.shared

    def _in_line(self, place: Place, stop: threading.Event) -> Generator[Waiting, None, bool]:
        """Whether its turn has come; False when `stop` was set before."""
        told, since = None, 0.0
        while not self._places.wait(place, POLL_SECONDS):
            if stop.is_set():
                return False
            position, now = self._places.position(place), monotonic()
            if position and _is_news(position, told, now - since):
                told, since = position, now
                yield Waiting(None, position.place, position.seconds, place.alone, position.behind)
        return not stop.is_set()


def _is_news(position: Position, told: Position | None, elapsed: float) -> bool:
    if told is None or (position.place, position.behind) != (told.place, told.behind):
        return True
    if position.seconds is None or told.seconds is None:
        return position.seconds is not told.seconds
    return abs(position.seconds - max(0.0, told.seconds - elapsed)) > NEWS_SECONDS
