"""The models behind the screen: loaded in the background, shared by all visitors, used by one run at a time.

`ModelShelf` is the only thing that the process keeps. It holds loaded pairs and nothing of any visitor.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from specdec.models.cancelling import Cancelled, cancelled_by
from specdec.settings import BadInput, Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.serving import zero_gpu
from visualizations.serving.engine_imports import import_engine
from visualizations.serving.inputs import PairChoice
from visualizations.serving.loading import load_in_turn

POLL_SECONDS = 0.2
MAX_LOADED_PAIRS = 2
# What a borrowed GPU is asked for: for a run, for each of its tokens, and for any other work. Little, for it is what is
# asked for that has to fit into a visitor's quota.
RUN_SECONDS, TOKEN_SECONDS, WORK_SECONDS = 5.0, 0.1, 60.0
MAX_WAITING_LOADS = 4

_LOG = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass
class Loading:
    """One attempt to load a pair. `finished` is set when `pair` or `error` is there.

    wanted: how many asked for it and still wait.
    """

    choice: PairChoice
    wanted: int = 0
    progress: Any = None
    pair: Any = None
    error: BadInput | None = None
    finished: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Waiting:
    """A run has no round yet: its models load (`loading` is set), another run still holds them (`busy`),
    or they read the prompt."""

    loading: Loading | None = None
    busy: bool = False


def run_seconds(tokens: int) -> float:
    """What a borrowed GPU is asked for, for a run of so many tokens at most."""
    return RUN_SECONDS + tokens * TOKEN_SECONDS


def _record(pair: Any, prompt: str, settings: Settings) -> Iterator[Trace | Step]:
    from specdec import recording  # here, because it costs torch: the page opens without

    return recording.steps(pair, prompt, settings)


class ModelShelf:
    """Loads pairs, one at a time, each in a thread of its own, and lends them to one run at a time.

    The pair used longest ago makes room when more than `MAX_LOADED_PAIRS` are loaded. A load that nobody waits for
    any more lets the others pass: it is dropped while it queues, and once begun it goes on beside the next.
    """

    def __init__(self, load: Callable[[PairChoice, Callable[[Any], None]], Any] = load_in_turn) -> None:
        self._load = load
        self._known: OrderedDict[PairChoice, Loading] = OrderedDict()
        self._lock = threading.Condition()
        self._begun: Loading | None = None
        self._one_run = threading.Lock()
        self._users = 0  # who waits for models or has them; what runs beside is none

    def request(self, choice: PairChoice) -> Loading:
        """The pair's loading, begun now unless it is under way or done. A failed one is tried again.

        Who asks counts as waiting, until `leave`.
        """
        with self._lock:
            if choice not in self._known:
                waited_for = [one for one in self._known.values() if one.wanted and not one.finished.is_set()]
                if len(waited_for) >= MAX_WAITING_LOADS:
                    raise BadInput(
                        "{most} pairs of models are being loaded already; try again later.", most=MAX_WAITING_LOADS
                    )
                loading = self._known[choice] = Loading(choice)
                threading.Thread(target=self._run_load, args=(loading,), daemon=True).start()
            self._known.move_to_end(choice)
            self._known[choice].wanted += 1
            return self._known[choice]

    def warm(self, choice: PairChoice) -> Loading:
        """The pair's loading, begun if it was not; whoever looks again is not counted again."""
        with self._lock:
            known = self._known.get(choice)
        return known or self.request(choice)

    def leave(self, loading: Loading) -> None:
        """One of those who asked waits no longer."""
        with self._lock:
            loading.wanted -= 1
            self._lock.notify_all()

    def steps(
        self, choice: PairChoice, prompt: str, settings: Settings, stop: threading.Event
    ) -> Iterator[Waiting | Trace | Step]:
        """`Waiting` until the first round is there, then the parts of a run: see `specdec.recording.steps`."""
        work = partial(_record, prompt=prompt, settings=settings)
        return self.using(choice, work, stop, run_seconds(settings.max_new_tokens))

    def using(
        self, choice: PairChoice, work: Callable[[Any], Iterator[T]], stop: threading.Event, seconds: float = WORK_SECONDS
    ) -> Iterator[Waiting | T]:
        """`Waiting` until the pair is free, then what `work(pair)` yields while it has the models to itself.

        Setting `stop` ends it: at once while it waits, else before the next pass of a model, wherever the work is
        (on a borrowed GPU, whose passes are quick, at its next step). So does closing the iterator. Either frees
        the pair. seconds: what a borrowed GPU is asked for.
        """
        with self._one_more_user():
            yield from self._lend(choice, work, stop, seconds)

    def beside(self, name: str, work: Callable[[Any], T], stop: threading.Event) -> T | None:
        """What `work(pair)` returns, if nobody else wants any models until then; else None.

        It waits for nothing: the pair called `name` must be loaded, and no models lent. Who asks for models ends it
        before the next pass of one, and so does setting `stop`.
        """

        def give_way() -> None:
            if self._users or stop.is_set():
                raise Cancelled

        pair = self._loaded(name)
        # A borrowed GPU is lent by the second, out of the visitor's quota: not for what they didn't ask for.
        if pair is None or zero_gpu.on_zero_gpu() or not self._one_run.acquire(blocking=False):
            return None
        try:
            give_way()
            return work(pair.cancellable(give_way))
        except Cancelled:
            return None
        finally:
            self._one_run.release()

    def _loaded(self, name: str) -> Any:
        with self._lock:
            pairs = [loading.pair for loading in self._known.values() if loading.pair is not None]
        return next((pair for pair in pairs if pair.info.name == name), None)

    @contextmanager
    def _one_more_user(self) -> Iterator[None]:
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1

    def _lend(
        self, choice: PairChoice, work: Callable[[Any], Iterator[T]], stop: threading.Event, seconds: float
    ) -> Iterator[Waiting | T]:
        loading = self.request(choice)
        try:
            while not loading.finished.wait(POLL_SECONDS):
                if stop.is_set():
                    return
                yield Waiting(loading)
        finally:
            self.leave(loading)
        if loading.error is not None:
            raise loading.error
        # The queue runs one model event at a time, yet a cancelled event leaves the queue before its last
        # pass is over, and what runs beside stands in no queue. The lock keeps the next run off the caches until then.
        while not self._one_run.acquire(timeout=POLL_SECONDS):
            if stop.is_set():
                return
            yield Waiting(busy=True)
        try:
            yield Waiting()
            pair = loading.pair.cancellable(cancelled_by(stop))
            with closing(zero_gpu.run(choice, pair, work, seconds)) as steps:
                yield from steps
        except Cancelled:
            pass
        finally:
            self._one_run.release()

    def _run_load(self, loading: Loading) -> None:
        def note(progress: Any) -> None:
            loading.progress = progress

        if not self._wait_for_turn(loading):
            return
        try:
            self._make_room()
            import_engine()
            loading.pair = self._load(loading.choice, note)
        except BadInput as error:
            loading.error = error
        except Exception as error:  # a broken file, no memory: the visitor gets a sentence, the log the fault
            _LOG.exception("Loading %s failed", loading.choice)
            loading.error = BadInput(
                "{pair} could not be loaded: {fault}.", pair=loading.choice.title, fault=type(error).__name__
            )
        with self._lock:
            if loading.error is not None:
                del self._known[loading.choice]
            if self._begun is loading:
                self._begun = None
            self._lock.notify_all()
        loading.finished.set()

    def _wait_for_turn(self, loading: Loading) -> bool:
        """Whether `loading` may begin now; False when nobody waits for it any more and it was dropped."""
        with self._lock:
            self._lock.wait_for(lambda: not loading.wanted or not (self._begun and self._begun.wanted))
            if not loading.wanted:
                del self._known[loading.choice]
                return False
            self._begun = loading
            return True

    def _make_room(self) -> None:
        with self._lock:
            loaded = [choice for choice, loading in self._known.items() if loading.pair is not None]
            for choice in loaded[: max(0, len(loaded) + 1 - MAX_LOADED_PAIRS)]:
                del self._known[choice]
