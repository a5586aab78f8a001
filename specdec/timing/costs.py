"""What a pass costs by itself: t_draft, t_target(n), prefill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

import torch

from specdec.models.devices import synchronise
from specdec.models.interface import LanguageModel
from specdec.models.pairs import Pair
from specdec.settings import BadInput
from specdec.timing.hardware import describe
from specdec.timing.records import Costs, PassCost
from specdec.timing.statistics import spread

WIDTHS = (*range(1, 18), 20, 24, 28, 32, 40, 48, 56, 64)
PREFILLS = (16, 64, 128, 256, 512)
CONTEXT = 128
STEPS = 4
FIRST_ID = 100


class CostSampler:
    """Collects pass times, one sample of everything at each call of `sample`.

    A sample goes through the widths in turn; between two target passes the draft model takes `steps`
    steps, as in decoding, so neither model finds its weights in the caches more often than it would there.
    The models' caches are used and left empty. Costs depend on the cache's length, hence `context`.
    Prefill lengths that the target can't hold are left out; a context that doesn't fit is `BadInput`.
    """

    def __init__(
        self,
        pair: Pair,
        *,
        widths: Sequence[int] = WIDTHS,
        prefills: Sequence[int] = (),
        context: int = CONTEXT,
        steps: int = STEPS,
        draft: bool = True,
        planned: int = 0,
    ):
        needed = context + max(*widths, steps)
        smallest = min(model.max_length for model in (pair.target, pair.draft) if model)
        if needed > smallest:
            raise BadInput(
                "{needed} tokens are needed for this, and a model can hold only {smallest}.",
                needed=needed, smallest=smallest,
            )
        self._pair = pair
        self._draft = pair.draft if draft else None
        self._context, self._steps, self._planned = context, steps, planned
        self._drafts: list[float] = []
        self._targets: dict[int, list[float]] = {width: [] for width in sorted(set(widths))}
        self._prefills: dict[int, list[float]] = {n: [] for n in prefills if n <= pair.target.max_length}
        self._samples = 0

    def sample(self, *, count: bool = True) -> None:
        """Measure everything once more; without `count` it is a warm-up."""
        target, draft = self._pair.target, self._draft
        self._fill(target)
        if draft:
            self._fill(draft)
        for width, seconds in self._targets.items():
            if draft:
                self._keep(count, self._drafts, self._draft_steps(draft))
            self._keep(count, seconds, _extend_seconds(target, width))
            target.rewind(self._context)
        for length, seconds in self._prefills.items():
            target.rewind(0)
            self._keep(count, seconds, _prefill_seconds(target, length))
        target.rewind(0)
        if draft:
            draft.rewind(0)
        self._samples += count

    def costs(self) -> Costs:
        """The record so far; at least one sample must have been taken."""
        return Costs(
            hardware=describe(self._pair.target.device),
            pair=self._pair.info.name,
            dtype=self._pair.dtype,
            context=self._context,
            steps=self._steps,
            draft_step=spread(self._drafts) if self._drafts else None,
            target=_pass_costs(self._targets),
            prefill=_pass_costs(self._prefills),
            done=self._samples,
            total=self._planned or self._samples,
        )

    def _fill(self, model: LanguageModel) -> None:
        model.rewind(0)
        model.prefill(_ids(model, self._context))

    def _draft_steps(self, draft: LanguageModel) -> float:
        """Mean seconds of one step, over `steps` in a row."""
        seconds = sum(_extend_seconds(draft, 1) for _ in range(self._steps))
        draft.rewind(self._context)
        return seconds / self._steps

    @staticmethod
    def _keep(count: bool, samples: list[float], value: float) -> None:
        if count:
            samples.append(value)


def measure_costs(
    pair: Pair,
    *,
    repeats: int = 15,
    widths: Sequence[int] = WIDTHS,
    prefills: Sequence[int] = PREFILLS,
    context: int = CONTEXT,
) -> Iterator[Costs]:
    """The record after each repeat, the first after one untimed warm-up. Close the generator to stop."""
    sampler = CostSampler(pair, widths=widths, prefills=prefills, context=context, planned=repeats)
    sampler.sample(count=False)
    for _ in range(repeats):
        sampler.sample()
        yield sampler.costs()


def _ids(model: LanguageModel, count: int) -> torch.Tensor:
    """Some ids; which they are doesn't matter to the time."""
    return ((FIRST_ID + torch.arange(count)) % model.vocab_size).to(model.device)


def _extend_seconds(model: LanguageModel, count: int) -> float:
    ids = _ids(model, count)
    synchronise(model.device)
    started = perf_counter()
    model.extend(ids)
    synchronise(model.device)
    return perf_counter() - started


def _prefill_seconds(model: LanguageModel, count: int) -> float:
    ids = _ids(model, count)
    synchronise(model.device)
    started = perf_counter()
    model.prefill(ids)
    synchronise(model.device)
    return perf_counter() - started


def _pass_costs(samples: dict[int, list[float]]) -> tuple[PassCost, ...]:
    return tuple(PassCost(tokens, spread(seconds)) for tokens, seconds in samples.items() if seconds)
