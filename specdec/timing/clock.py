"""A stopwatch around a model, and one timed run of the engine's own loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from torch import Tensor

from specdec import recording
from specdec.models.devices import synchronise
from specdec.models.interface import LanguageModel
from specdec.models.pairs import Pair
from specdec.settings import Settings
from specdec.timing.records import RunTiming


class TimedModel:
    """A `LanguageModel` that adds up what its passes cost, the device synchronised before and after each.

    All else is the model's own. seconds, passes: of `extend`. prefill_seconds: of `prefill`.
    """

    def __init__(self, model: LanguageModel):
        self._model = model
        self.seconds = 0.0
        self.passes = 0
        self.prefill_seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def extend(self, tokens: Tensor) -> Tensor:
        started = self._now()
        logits = self._model.extend(tokens)
        self.seconds += self._now() - started
        self.passes += 1
        return logits

    def prefill(self, tokens: Tensor) -> None:
        started = self._now()
        self._model.prefill(tokens)
        self.prefill_seconds += self._now() - started

    def _now(self) -> float:
        synchronise(self.device)
        return perf_counter()


def time_run(pair: Pair, prompt_ids: Sequence[int], settings: Settings, *, inside: bool = True) -> RunTiming:
    """Decode once, with no record kept, and say what it took.

    decode_seconds runs from the start of the first round to the end of the last; between rounds
    nothing is done but counting. inside: also time the models' passes. On a GPU that makes the host
    wait for every pass, so the headline is measured with inside=False there.
    """
    target = TimedModel(pair.target) if inside else pair.target
    draft = TimedModel(pair.draft) if inside and pair.draft else pair.draft
    watched = replace(pair, target=target, draft=draft)
    if settings.stop_strings:
        watched.texts.alone(0)  # built before the clock starts
    tokens = rounds = drafted = tested = accepted = copied = 0
    drafting = verifying = 0.0
    first_started = last_finished = None

    synchronise(pair.target.device)
    began = perf_counter()
    for round_ in recording.run(watched, list(prompt_ids), settings):
        if first_started is None:
            first_started = round_.started
        last_finished = round_.finished
        tokens += len(round_.emitted)
        rounds += 1
        drafted += len(round_.proposal)
        tested += round_.tested
        accepted += round_.accepted
        copied += round_.proposal.copied
        drafting += round_.drafted_at - round_.started
        verifying += round_.verified_at - round_.drafted_at
    if first_started is None or last_finished is None:
        raise RuntimeError("The run had no round.")

    draft_took_part = inside and drafted > 0 and settings.with_draft_model
    return RunTiming(
        tokens=tokens,
        prefill_seconds=first_started - began,
        decode_tokens=tokens,
        decode_seconds=last_finished - first_started,
        rounds=rounds,
        drafted=drafted,
        tested=tested,
        accepted=accepted,
        draft_steps=(draft.passes if draft_took_part else 0) if inside else None,
        draft_seconds=(draft.seconds if draft_took_part else 0.0) if inside else None,
        target_seconds=target.seconds if inside else None,
        drafting_seconds=drafting,
        verifying_seconds=verifying,
        copied=copied,
    )
