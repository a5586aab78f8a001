"""What sharing a pair gives: what a pass over several runs' rows takes, and how much several runs write at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from statistics import fmean
from time import perf_counter

import torch
from pydantic.dataclasses import dataclass

from specdec import recording
from specdec.models.batched import SharedPair, share
from specdec.models.devices import synchronise
from specdec.models.pairs import Pair
from specdec.settings import BadInput, Settings
from specdec.timing.hardware import describe
from specdec.timing.records import STRICT, Hardware, Spread, to_json
from specdec.timing.statistics import spread

RUNS = (1, 2, 4, 8, 16)
REPEATS = 3
FIRST_ID = 100


@dataclass(frozen=True, config=STRICT)
class SharedPass:
    """Seconds of one pass over `tokens` tokens of each of `rows` texts. model: 'draft' or 'target'."""

    model: str
    rows: int
    tokens: int
    seconds: Spread


@dataclass(frozen=True, config=STRICT)
class RunsAtOnce:
    """`runs` runs that begin together. rate: tokens of them all a second, from the first's beginning, prompts and
    record included, to the last's end. sharing: mean of how many runs' rows a pass of the target had."""

    runs: int
    rate: Spread
    sharing: float


@dataclass(frozen=True, config=STRICT)
class Sharing:
    """It grows while it is measured. context: tokens in each cache of `passes`. done, total: of `at_once`."""

    hardware: Hardware
    pair: str
    dtype: str
    settings: Settings
    context: int
    passes: tuple[SharedPass, ...]
    at_once: tuple[RunsAtOnce, ...]
    done: int
    total: int

    def to_json(self) -> str:
        return to_json(self)


def measure_sharing(
    pair: Pair, prompts: Sequence[str], settings: Settings, *, context: int, runs: Sequence[int] = RUNS, repeats: int = REPEATS
) -> Iterator[Sharing]:
    """The record after every repeat of every number of `runs`. Raises `BadInput` for a pair that can't be shared."""
    counts = sorted({1, *runs})
    shared = share(pair, max(2, *counts))
    if shared.reason:
        raise BadInput("The pair can't be shared: {reason}", reason=shared.reason)
    passes = tuple(_passes(pair, counts, settings.gamma, context, repeats))
    runs_at_once(shared, prompts, settings, 1)  # warm-up
    found: dict[int, list[tuple[float, float]]] = {count: [] for count in counts}
    for repeat in range(repeats):
        for count in counts:
            found[count].append(runs_at_once(shared, prompts, replace(settings, seed=settings.seed + repeat), count))
            yield Sharing(
                hardware=describe(pair.target.device),
                pair=pair.info.name,
                dtype=pair.dtype,
                settings=settings,
                context=context,
                passes=passes,
                at_once=tuple(_at_once(count, measured) for count, measured in found.items() if measured),
                done=sum(map(len, found.values())),
                total=repeats * len(counts),
            )


def runs_at_once(shared: SharedPair, prompts: Sequence[str], settings: Settings, count: int) -> tuple[float, float]:
    """`count` recorded runs, each a thread with a slot, that begin together: tokens a second of all, mean sharing."""
    tokens, sharing, faults = [0] * count, [], []

    def write(index: int, pair: Pair) -> None:
        try:
            chosen = replace(settings, seed=settings.seed + index)
            trace = recording.decode(pair, prompts[index % len(prompts)], chosen)
            tokens[index] = len(trace.output.ids)
            sharing.extend(round_.sharing for round_ in trace.rounds)
        except Exception as fault:
            faults.append(fault)

    with ExitStack() as slots:
        pairs = [slots.enter_context(shared.lend()) for _ in range(count)]
        threads = [threading.Thread(target=write, args=lent) for lent in enumerate(pairs)]
        began = perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = perf_counter() - began
    if faults:
        raise faults[0]
    return sum(tokens) / seconds, fmean(sharing)


def _at_once(count: int, measured: Sequence[tuple[float, float]]) -> RunsAtOnce:
    rates, sharing = zip(*measured)
    return RunsAtOnce(count, spread(rates), fmean(sharing))


def _passes(pair: Pair, counts: Sequence[int], gamma: int, context: int, repeats: int) -> Iterator[SharedPass]:
    for name, model, widths in (("draft", pair.draft, {1}), ("target", pair.target, {1, gamma + 1})):
        if model is None:
            continue
        texts = [model.fresh() for _ in range(max(counts))]
        for text in texts:
            text.prefill(torch.arange(FIRST_ID, FIRST_ID + context) % model.vocab_size)
        for width in sorted(widths):
            for count in counts:
                seconds = [_seconds(texts[:count], width) for _ in range(repeats + 1)][1:]
                yield SharedPass(name, count, width, spread(seconds))


def _seconds(texts: Sequence, width: int) -> float:
    from specdec.models.batched.packed import Row, extend_packed

    tokens = torch.arange(FIRST_ID, FIRST_ID + width) % texts[0].vocab_size
    length = texts[0].length
    synchronise(texts[0].device)
    began = perf_counter()
    if len(texts) == 1:
        texts[0].extend(tokens)
    else:
        extend_packed(texts[0].model, [Row(text, tokens) for text in texts])
    synchronise(texts[0].device)
    seconds = perf_counter() - began
    for text in texts:
        text.rewind(length)
    return seconds
