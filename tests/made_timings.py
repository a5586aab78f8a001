"""Records of measurements with numbers that can be checked by hand. No model, no clock, no torch but for the race and the roofline.

A pass of the target over n tokens takes 20 ms + 1 ms for each further token; a draft step 5 ms. Plain decoding:
100 tokens in 2.0 s. With gamma drafts: 100 tokens in 40 rounds, all drafts of a round made, alpha 0.8.
"""

from __future__ import annotations

from typing import Any

from specdec.settings import Settings
from specdec.timing.comparison import Comparison, PromptNote, Sample, Sweep, Way
from specdec.timing.records import Costs, Hardware, PassCost, RunTiming, Spread
from specdec.timing.statistics import results_of, rows_of, sweep_of

HARDWARE = Hardware("cpu", "Test <b>CPU</b> ${x}", 2, 2, "2", "5", "3", "Linux")
PAIR, DTYPE = "target + draft", "float32"
ONE, FURTHER, STEP = 0.020, 0.001, 0.005
TOKENS, ROUNDS, TESTED, ACCEPTED = 100, 40, 75, 60


def spread_at(seconds: float) -> Spread:
    return Spread(median=seconds, q1=0.9 * seconds, q3=1.1 * seconds, n=7)


def pass_seconds(tokens: int) -> float:
    return ONE + FURTHER * (tokens - 1)


def made_costs(widths: tuple[int, ...] = (*range(1, 18), 32, 64)) -> Costs:
    target = tuple(PassCost(n, spread_at(pass_seconds(n))) for n in widths)
    return Costs(HARDWARE, PAIR, DTYPE, 128, 4, spread_at(STEP), target, (), 7, 7)


def made_run(gamma: int, loop: float = 0.04, drafted: bool = True) -> RunTiming:
    """A run of 100 tokens; drafted False: the drafter proposed nothing."""
    if gamma == 0 or not drafted:
        return RunTiming(TOKENS, 0.1, TOKENS, 2.0, TOKENS, 0, 0, 0, 0, 0.0, TOKENS * 0.0195)
    drafts, passes = ROUNDS * gamma * STEP, ROUNDS * pass_seconds(gamma + 1)
    return RunTiming(
        TOKENS, 0.1, TOKENS, drafts + passes + loop, ROUNDS, ROUNDS * gamma, TESTED, ACCEPTED, ROUNDS * gamma, drafts, passes
    )


def made_comparison(gammas: tuple[int, ...] = (4,), repeats: int = 6, **run: Any) -> Comparison:
    settings = Settings(temperature=0.0, max_new_tokens=TOKENS)
    ways = (Way("plain", "specdec", settings.changed(gamma=0)), *(Way(f"gamma{g}", "specdec", settings.changed(gamma=g)) for g in gammas))
    samples = [
        Sample(index, 0, repeat, repeat, made_run(way.settings.gamma, **run) if way.settings.gamma else made_run(0))
        for repeat in range(repeats)
        for index, way in enumerate(ways)
    ]
    costs = made_costs()
    return Comparison(
        HARDWARE, PAIR, DTYPE, (PromptNote("A <i>prompt</i> ${x}", 9),), ways, 2, repeats, len(samples), len(samples), tuple(samples),
        costs, rows_of(ways, 1, samples), results_of(ways, samples, costs), True,
    )  # fmt: skip


def made_sweep(gammas: tuple[int, ...] = (1, 2, 4, 8)) -> Sweep:
    return sweep_of(made_comparison(gammas), max(gammas))


def made_roofline() -> Any:
    """Ceilings 10 GB/s and 100 GFLOP/s; a decoding pass over n tokens: 2 n GFLOP... scaled down, 0.1 GB."""
    from specdec.timing.roofline import Ceilings, Roofline, RooflinePoint

    def point(kind: str, tokens: int, seconds: float) -> RooflinePoint:
        flops, size = 5e7 * tokens, 1e8
        return RooflinePoint(
            kind, tokens, 128, spread_at(seconds), flops, size, flops / size, flops / seconds, size / seconds, tokens / seconds
        )

    points = [point("decode", n, pass_seconds(n)) for n in (1, 2, 3, 5, 9, 17)] + [point("prefill", 256, 0.4)]
    return Roofline(HARDWARE, PAIR, DTYPE, Ceilings(8e9, 10e9, 100e9), tuple(points), 3, 3)


def made_race(words: tuple[str, ...] = ("The", " sky", " is", " <b>blue</b>", " ${x}", "\n", " 天空")) -> Any:
    """Plain: a token each 0.02 s. Speculative: rounds of 0.04 s that keep one draft, reject one, discard one."""
    from specdec.timing.race import Block, Lane, Race, RaceToken
    from specdec.trace.record import TokenText

    def token(index: int, fate: str) -> RaceToken:
        return RaceToken(TokenText(index, words[index % len(words)]), fate)

    plain = tuple(Block(0.02 * i, 0.02 * i, 0.02 * i + 0.019, 0.02 * (i + 1), (token(i, "added"),), 1) for i in range(12))
    fast = tuple(
        Block(
            0.03 * i, 0.03 * i + 0.008, 0.03 * i + 0.029, 0.03 * (i + 1),
            (token(2 * i, "accepted"), token(3, "rejected"), token(4, "discarded"), token(2 * i + 1, "added")), 2,
        )
        for i in range(6)
    )  # fmt: skip
    settings = Settings(temperature=0.0, gamma=3, max_new_tokens=12)
    return Race(
        HARDWARE, PAIR, DTYPE, "A prompt", 9, settings, Lane(0, 0.1, plain, "length"), Lane(3, 0.1, fast, "length")
    )
