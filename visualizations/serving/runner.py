"""The models behind the screen: loaded in the background, shared by all visitors, used by one run at a time.

`ModelShelf` is the only thing that the process keeps. It holds loaded pairs and nothing of any visitor.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from specdec.settings import BadInput, Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.serving import zero_gpu
from visualizations.serving.engine_imports import import_engine
from visualizations.serving.inputs import PairChoice
from visualizations.serving.loading import load_choice

POLL_SECONDS = 0.2
MAX_LOADED_PAIRS = 2
# On a borrowed GPU, with a margin: a run's own, for each of its tokens, and for any other work.
RUN_SECONDS, TOKEN_SECONDS, WORK_SECONDS = 15.0, 0.2, 60.0
MAX_WAITING_LOADS = 4

_LOG = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass
class Loading:
    """One attempt to load a pair. `finished` is set when `pair` or `error` is there."""

    choice: PairChoice
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


def _record(pair: Any, prompt: str, settings: Settings) -> Iterator[Trace | Step]:
    from specdec import recording  # here, because it costs torch: the page opens without

    return recording.steps(pair, prompt, settings)


class ModelShelf:
    """Loads pairs, one at a time, each in a thread of its own, and lends them to one run at a time.

    The pair used longest ago makes room when more than `MAX_LOADED_PAIRS` are loaded.
    """

    def __init__(self, load: Callable[[PairChoice, Callable[[Any], None]], Any] = load_choice) -> None:
        self._load = load
        self._known: OrderedDict[PairChoice, Loading] = OrderedDict()
        self._lock = threading.Lock()
        self._one_load = threading.Lock()
        self._one_run = threading.Lock()

    def request(self, choice: PairChoice) -> Loading:
        """The pair's loading, begun now unless it is under way or done. A failed one is tried again."""
        with self._lock:
            if choice not in self._known:
                if sum(not loading.finished.is_set() for loading in self._known.values()) >= MAX_WAITING_LOADS:
                    raise BadInput(f"{MAX_WAITING_LOADS} pairs of models are being loaded already; try again later.")
                loading = self._known[choice] = Loading(choice)
                threading.Thread(target=self._run_load, args=(loading,), daemon=True).start()
            self._known.move_to_end(choice)
            return self._known[choice]

    def steps(self, choice: PairChoice, prompt: str, settings: Settings) -> Iterator[Waiting | Trace | Step]:
        """`Waiting` until the first round is there, then the parts of a run: see `specdec.recording.steps`."""
        work = partial(_record, prompt=prompt, settings=settings)
        return self.using(choice, work, RUN_SECONDS + settings.max_new_tokens * TOKEN_SECONDS)

    def using(
        self, choice: PairChoice, work: Callable[[Any], Iterator[T]], seconds: float = WORK_SECONDS
    ) -> Iterator[Waiting | T]:
        """`Waiting` until the pair is free, then what `work(pair)` yields while it has the models to itself.

        seconds: what a borrowed GPU is asked for. Closing the iterator closes the work's, and frees the pair.
        """
        loading = self.request(choice)
        while not loading.finished.wait(POLL_SECONDS):
            yield Waiting(loading)
        if loading.error is not None:
            raise loading.error
        # The queue runs one model event at a time, yet a cancelled event leaves the queue before its
        # last round is over. The lock keeps the next run off the caches until then.
        while not self._one_run.acquire(timeout=POLL_SECONDS):
            yield Waiting(busy=True)
        try:
            yield Waiting()
            with closing(zero_gpu.run(choice, loading.pair, work, seconds)) as steps:
                yield from steps
        finally:
            self._one_run.release()

    def _run_load(self, loading: Loading) -> None:
        def note(progress: Any) -> None:
            loading.progress = progress

        try:
            with self._one_load:
                self._make_room()
                import_engine()
                loading.pair = self._load(loading.choice, note)
        except BadInput as error:
            loading.error = error
        except Exception as error:  # a broken file, no memory: the visitor gets a sentence, the log the fault
            _LOG.exception("Loading %s failed", loading.choice)
            loading.error = BadInput(f"{loading.choice.title} could not be loaded: {type(error).__name__}.")
        if loading.error is not None:
            with self._lock:
                del self._known[loading.choice]
        loading.finished.set()

    def _make_room(self) -> None:
        with self._lock:
            loaded = [choice for choice, loading in self._known.items() if loading.pair is not None]
            for choice in loaded[: max(0, len(loaded) + 1 - MAX_LOADED_PAIRS)]:
                del self._known[choice]
