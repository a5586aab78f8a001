"""The pairs that are loaded or being loaded, in the background, for all who ask."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specdec.settings import BadInput
from visualizations.serving.backend import Loading
from visualizations.serving.engine_imports import import_engine
from visualizations.serving.inputs import PairChoice

if TYPE_CHECKING:
    from specdec.models.batched import SharedPair
    from specdec.models.pairs import Pair

MAX_LOADED_PAIRS = 2
MAX_WAITING_LOADS = 4

_LOG = logging.getLogger(__name__)

Load = Callable[[PairChoice, Callable[[Any], None]], "Pair"]


@dataclass
class OneLoad:
    """One attempt to load a pair. `finished` is set when `shared` or `error` is there.

    wanted: how many asked for it and still wait.
    """

    choice: PairChoice
    wanted: int = 0
    progress: Any = None
    shared: SharedPair | None = None
    error: BadInput | None = None
    finished: threading.Event = field(default_factory=threading.Event)

    @property
    def told(self) -> Loading:
        """How far it is, as plain data."""
        return Loading(self.choice, self.progress, self.shared is not None, self.error)


class Loads:
    """Loads pairs, one at a time, each in a thread of its own.

    The pair used longest ago makes room when more than `MAX_LOADED_PAIRS` are loaded. A load that nobody waits for
    any more lets the others pass: it is dropped while it queues, and once begun it goes on beside the next.
    """

    def __init__(self, load: Load, share: Callable[[Pair], SharedPair]) -> None:
        self._load = load
        self._share = share
        self._known: OrderedDict[PairChoice, OneLoad] = OrderedDict()
        self._lock = threading.Condition()
        self._begun: OneLoad | None = None

    def request(self, choice: PairChoice) -> OneLoad:
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
                loading = self._known[choice] = OneLoad(choice)
                threading.Thread(target=self._run, args=(loading,), daemon=True).start()
            self._known.move_to_end(choice)
            self._known[choice].wanted += 1
            return self._known[choice]

    def warm(self, choice: PairChoice) -> OneLoad:
        """The pair's loading, begun if it was not; whoever looks again is not counted again."""
        with self._lock:
            known = self._known.get(choice)
        return known or self.request(choice)

    def leave(self, loading: OneLoad) -> None:
        """One of those who asked waits no longer."""
        with self._lock:
            loading.wanted -= 1
            self._lock.notify_all()

    def loaded(self, name: str) -> SharedPair | None:
        """The pair called `name`, if it is here."""
        with self._lock:
            pairs = [loading.shared for loading in self._known.values() if loading.shared is not None]
        return next((shared for shared in pairs if shared.pair.info.name == name), None)

    def _run(self, loading: OneLoad) -> None:
        def note(progress: Any) -> None:
            loading.progress = progress

        if not self._wait_for_turn(loading):
            return
        try:
            self._make_room()
            import_engine()
            loading.shared = self._share(self._load(loading.choice, note))
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

    def _wait_for_turn(self, loading: OneLoad) -> bool:
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
            loaded = [choice for choice, loading in self._known.items() if loading.shared is not None]
            for choice in loaded[: max(0, len(loaded) + 1 - MAX_LOADED_PAIRS)]:
                del self._known[choice]
