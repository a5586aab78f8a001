"""The fair comparison: several ways to decode the same prompts, by turns, in one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from specdec.models.pairs import Pair
from specdec.settings import BadInput, Settings
from specdec.timing.beside import OtherWork
from specdec.timing.clock import time_run
from specdec.timing.comparison import Comparison, PromptNote, Sample, Sweep, Way
from specdec.timing.costs import CONTEXT, STEPS, CostSampler
from specdec.timing.hardware import describe
from specdec.timing.records import RunTiming
from specdec.timing.statistics import repeatable, results_of, rows_of, sweep_of

REPEATS = 5
GAMMAS = (1, 2, 3, 4, 5, 6, 8)
WARM_UP_TOKENS = 16
COST_SAMPLES = 6
SHOWN_CHARACTERS = 60


def compare(
    pair: Pair,
    prompts: Sequence[str],
    settings: Settings | None = None,
    *,
    repeats: int = REPEATS,
    gammas: Sequence[int] | None = None,
    with_transformers: bool = False,
    with_costs: bool = True,
) -> Iterator[Comparison]:
    """Plain against speculative decoding, and with `with_transformers` generate() against both.

    Yields the record after every prompt of every repeat; close the generator to stop. gammas: draft
    lengths to measure, that of `settings` unless given. In repeat r every way runs with seed
    settings.seed + r; the ways follow one another prompt by prompt, in the opposite order in every
    other repeat. with_costs: measure t_draft and t_target(n) between the repeats, for the prediction.
    Nothing survives from run to run: each begins with empty caches.
    """
    ways = ways_of(settings or Settings(), gammas, with_transformers)
    widths = {1, *(way.settings.gamma + 1 for way in ways), *(way.settings.gamma for way in ways if way.settings.gamma)}
    return measure_ways(pair, prompts, ways, repeats, widths if with_costs else set())


def sweep(
    pair: Pair,
    prompts: Sequence[str],
    settings: Settings | None = None,
    *,
    gammas: Sequence[int] = GAMMAS,
    repeats: int = REPEATS,
) -> Iterator[Sweep]:
    """Plain decoding and every draft length of `gammas`, measured as in `compare`."""
    ways = ways_of(settings or Settings(), gammas, with_transformers=False)
    longest = max(way.settings.gamma for way in ways)
    for comparison in measure_ways(pair, prompts, ways, repeats, set(range(1, longest + 2))):
        yield sweep_of(comparison, longest)


def ways_of(settings: Settings, gammas: Sequence[int] | None, with_transformers: bool) -> tuple[Way, ...]:
    """Plain decoding first, then each draft length; then the same through transformers."""
    lengths = [settings.gamma] if gammas is None else sorted(set(gammas) - {0})
    if not lengths or lengths == [0]:
        raise BadInput("gamma must be at least 1: plain decoding is measured anyway.")
    engines = ("specdec", "transformers") if with_transformers else ("specdec",)
    return tuple(
        Way(key=way_key(engine, gamma), engine=engine, settings=settings.changed(gamma=gamma))
        for engine in engines
        for gamma in (0, *lengths)
    )


def way_key(engine: str, gamma: int) -> str:
    """plain, gamma4, transformers_plain, transformers_gamma4."""
    name = f"gamma{gamma}" if gamma else "plain"
    return name if engine == "specdec" else f"transformers_{name}"


def measure_ways(
    pair: Pair, prompts: Sequence[str], ways: tuple[Way, ...], repeats: int, widths: set[int]
) -> Iterator[Comparison]:
    """The record of `ways` after every prompt of every repeat, as `compare` has it; the first is plain decoding.

    widths: the numbers of tokens whose passes are timed between the repeats; empty: nothing is predicted.
    """
    settings = ways[0].settings
    ids = [pair.encode(prompt, chat=settings.chat) for prompt in prompts]
    if not ids:
        raise BadInput("There is no prompt to measure.")
    sampler = _cost_sampler(pair, ways, widths) if widths else None
    hardware = describe(pair.target.device)
    notes = tuple(PromptNote(text[:SHOWN_CHARACTERS], len(tokens)) for text, tokens in zip(prompts, ids))
    samples: list[Sample] = []

    for way in ways:
        _time(pair, ids[0], replace(way, settings=replace(way.settings, max_new_tokens=WARM_UP_TOKENS)))
    if sampler:
        sampler.sample(count=False)

    others = OtherWork()
    for repeat in range(repeats):
        for _ in range(COST_SAMPLES if sampler else 0):
            sampler.sample()
        for prompt, tokens in enumerate(ids):
            for index in _order(len(ways), repeat):
                way = ways[index]
                seed = way.settings.seed + repeat
                timing = _time(pair, tokens, replace(way, settings=replace(way.settings, seed=seed)))
                samples.append(Sample(index, prompt, repeat, seed, timing))
            costs = sampler.costs() if sampler else None
            yield Comparison(
                hardware=hardware,
                pair=pair.info.name,
                dtype=pair.dtype,
                prompts=notes,
                ways=ways,
                warm_up=len(ways),
                repeats=repeats,
                done=len(samples),
                total=repeats * len(ids) * len(ways),
                samples=tuple(samples),
                costs=costs,
                rows=rows_of(ways, len(ids), samples),
                results=results_of(ways, samples, costs, others.cores()),
                repeatable=repeatable(ways, samples),
            )


def _order(ways: int, repeat: int) -> Iterator[int]:
    """The order of the ways, turned round in every other repeat, so that none is always first."""
    return iter(range(ways)) if repeat % 2 == 0 else reversed(range(ways))


def _time(pair: Pair, prompt_ids: Sequence[int], way: Way) -> RunTiming:
    if way.engine == "transformers":
        from specdec.timing.transformers_run import time_generate

        return time_generate(pair, prompt_ids, way.settings)
    return time_run(pair, prompt_ids, way.settings, inside=pair.target.device.type == "cpu")


def _cost_sampler(pair: Pair, ways: Sequence[Way], widths: set[int]) -> CostSampler:
    """At the usual context, or as much of it as the models can hold."""
    room = min(model.max_length for model in (pair.target, pair.draft) if model) - max(*widths, STEPS)
    drafts = any(way.settings.with_draft_model for way in ways)
    return CostSampler(pair, widths=sorted(widths), context=max(1, min(CONTEXT, room)), draft=drafts)
