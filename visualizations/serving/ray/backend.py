"""The page's side of the models: a `Backend` that asks the replicas, and begins anew when one goes away."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from ray.exceptions import ObjectLostError, RayActorError, RayTaskError, TaskCancelledError
from ray.serve.exceptions import DeploymentUnavailableError, RequestCancelledError

from specdec.settings import BadInput, Settings
from specdec.trace.growing import Step
from specdec.trace.trace import Trace
from visualizations.serving.backend import Loading, Shared, Waiting, Work
from visualizations.serving.inputs import PairChoice
from visualizations.serving.ray.asked import Alone, Asked, Beside, Using
from visualizations.serving.works import Decode
from visualizations.text import spoken_now

if TYPE_CHECKING:
    from ray.serve.handle import DeploymentHandle, DeploymentResponseGenerator

POLL_SECONDS = 0.1
LOOK_SECONDS = 5.0  # for all replicas to say how far they are
_GONE = (RayActorError, ObjectLostError, DeploymentUnavailableError)
_CANCELLED = (RequestCancelledError, TaskCancelledError, CancelledError)

_LOG = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")


class RayBackend:
    """A `Backend`. models: the deployment of `Models`, to whose replica with the fewest works a request goes.

    `alone` is alone on its replica, and `beside` looks at the one that it comes to.
    """

    def __init__(self, models: DeploymentHandle) -> None:
        self._models = models
        self._page = token_hex(8)

    def open(self, choice: PairChoice) -> None:
        """Tell the replicas that this page is there, in place of any before it, and that it will want the pair."""
        self._all("opened", self._page)
        self.warm(choice)

    def warm(self, choice: PairChoice) -> Loading:
        """See `Backend`. It loads on every replica, and is loaded when all of them have it."""
        told = self._all("warm", choice)
        for refusal in told:
            if isinstance(refusal, BadInput):
                raise refusal
        loadings = [loading for loading in told if isinstance(loading, Loading)]
        return min(loadings, key=lambda one: (one.loaded, one.error is not None), default=Loading(choice))

    def steps(
        self, choice: PairChoice, prompt: str, settings: Settings, stop: threading.Event
    ) -> Iterator[Waiting | Shared | Trace | Step]:
        """See `Backend`."""
        return self._answers(Using(choice, Decode(prompt, settings)), stop)

    def using(
        self, choice: PairChoice, work: Work[Iterator[T]], stop: threading.Event
    ) -> Iterator[Waiting | Shared | T]:
        """See `Backend`."""
        return self._answers(Using(choice, work), stop)

    def alone(self, choice: PairChoice, work: Work[Iterator[T]], stop: threading.Event) -> Iterator[Waiting | T]:
        """See `Backend`."""
        return self._answers(Alone(choice, work), stop)

    def beside(self, name: str, work: Work[R], stop: threading.Event) -> R | None:
        """See `Backend`. It is not begun anew: nobody asked for it."""
        try:
            return next(self._once(Beside(name, work), stop), None)
        except _GONE:
            return None

    def _all(self, method: str, *values: Any) -> list[Any]:
        """What every replica returns, or raises; nothing where none is there yet, or one is late."""
        try:
            return self._models.broadcast(method, *values).results(timeout_s=LOOK_SECONDS, return_exceptions=True)
        except (TimeoutError, DeploymentUnavailableError):
            return []

    def _answers(self, asked: Asked, stop: threading.Event) -> Iterator[Any]:
        """A replica's answers; of another, from the beginning, when it went away with the work."""
        for retry in (Waiting(again=True), None):
            try:
                with closing(self._once(asked, stop)) as answers:
                    yield from answers
                return
            except _GONE as gone:
                _LOG.warning("A replica went away in the middle of a work: %s", type(gone).__name__)
            if stop.is_set():
                return
            if retry:
                yield retry
        raise BadInput("The machines that had this went away twice; ask again in a moment.")

    def _once(self, asked: Asked, stop: threading.Event) -> Iterator[Any]:
        response = self._models.options(stream=True).answers.remote(self._page, asked, spoken_now())
        try:
            with _cancelled_by(stop, response):
                for answer in response:
                    if isinstance(answer, BadInput):
                        raise answer
                    yield answer
        except _CANCELLED:
            if not stop.is_set():
                raise
        except RayTaskError as fault:
            raise fault.cause from None


@contextmanager
def _cancelled_by(stop: threading.Event, response: DeploymentResponseGenerator[Any]) -> Iterator[None]:
    """While it lasts, setting `stop` ends the response on its replica; so does leaving it before its end."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(POLL_SECONDS):
            if stop.is_set():
                response.cancel()
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except GeneratorExit:
        response.cancel()
        raise
    finally:
        over.set()
