"""A run round by round: what each round adds, and the record that grows by it at a cost that stays the same."""

from __future__ import annotations

from dataclasses import dataclass, replace

from specdec.trace.record import Metrics, Output, Round, RunningMetrics, StopReason
from specdec.trace.trace import Trace


@dataclass(frozen=True)
class Step:
    """One round as it joins a run. stop_reason: 'cancelled' until the round that ends the run."""

    round: Round
    stop_reason: StopReason

    @property
    def text(self) -> str:
        """What the round adds to the output."""
        return "".join(position.text for position in self.round.positions if position.kind != "discarded")


class GrowingTrace:
    """A trace to which rounds are added; `trace()` is the only thing whose cost grows with the run.

    start: the trace without a round; its metrics hold the seconds of the prefill. One thread adds, any may read.
    """

    def __init__(self, start: Trace) -> None:
        self.start = start
        self.stop_reason: StopReason = "cancelled"
        self._metrics = RunningMetrics(start.metrics.prefill_seconds)
        self._rounds: list[Round] = []

    def add(self, step: Step) -> None:
        """Join one more round."""
        self._metrics.add(step.round)
        self._rounds.append(step.round)
        self.stop_reason = step.stop_reason

    def __len__(self) -> int:
        """Rounds so far."""
        return len(self._rounds)

    @property
    def metrics(self) -> Metrics:
        """Of the rounds so far."""
        return self._metrics.metrics()

    def trace(self) -> Trace:
        """The whole run so far, a value that grows no more."""
        stop_reason, rounds = self.stop_reason, tuple(self._rounds)  # in this order: a run that is over is whole
        metrics = RunningMetrics(self.start.metrics.prefill_seconds)
        emitted = []
        for round_ in rounds:
            metrics.add(round_)
            emitted += [position for position in round_.positions if position.kind != "discarded"]
        output = Output(tuple(p.token_id for p in emitted), "".join(p.text for p in emitted), stop_reason)
        return replace(self.start, rounds=rounds, output=output, metrics=metrics.metrics())
