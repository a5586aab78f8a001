"""From timed runs to conclusions. Pure functions of records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specdec.exactness.theory import expected_tokens, predicted_speedup
from specdec.timing.beside import BUSY_CORES
from specdec.timing.comparison import (
    Because,
    Comparison,
    CurvePoint,
    Prediction,
    Ratio,
    Result,
    Row,
    Sample,
    Sweep,
    SweepPoint,
    Verdict,
    Way,
)
from specdec.timing.records import Costs, RunTiming, Spread, pooled

CONFIDENCE = 0.95
RESAMPLES = 2_000
MIN_PAIRS = 5
MAX_WIDTH = 0.4


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles."""
    q1, median, q3 = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return Spread(median=median, q1=q1, q3=q3, n=len(values))


def ratio_of(fast: Sequence[RunTiming], slow: Sequence[RunTiming]) -> Ratio | None:
    """How many times as fast `fast` is as `slow`; run i of one is paired with run i of the other.

    A pair shares prompt, repeat and seed, and was run back to back. Pairs in which a run has no timed
    token (it ended in its first step) are left out; None when no pair is left.
    """
    if len(fast) != len(slow):
        raise ValueError(f"Runs are compared pair by pair; there are {len(fast)} and {len(slow)}.")
    pairs = [(a, b) for a, b in zip(fast, slow) if a.decode_rate and b.decode_rate]
    if not pairs:
        return None
    columns = [
        np.array([getattr(pair[side], name) for pair in pairs], dtype=float)
        for side in (0, 1)
        for name in ("decode_tokens", "decode_seconds")
    ]
    ratios = _rate_ratio(*(column[:, None] for column in columns))
    q1, median, q3 = np.quantile(ratios, (0.25, 0.5, 0.75)).tolist()
    low, high = _interval(columns) if len(pairs) > 1 else (None, None)
    return Ratio(
        pooled=float(_rate_ratio(*columns)),
        mean=float(ratios.mean()),
        median=median,
        q1=q1,
        q3=q3,
        low=low,
        high=high,
        n=len(pairs),
    )


def _rate_ratio(tokens, seconds, other_tokens, other_seconds, axis=-1):
    """(sum tokens / sum seconds) / (sum other tokens / sum other seconds) along `axis`."""
    rate = tokens.sum(axis) / seconds.sum(axis)
    return rate / (other_tokens.sum(axis) / other_seconds.sum(axis))


def _interval(columns: Sequence[np.ndarray]) -> tuple[float, float]:
    """Percentile bootstrap over pairs. The seed is fixed: the same runs give the same interval."""
    from scipy.stats import bootstrap  # here, because it is slow to import: a page that reads records needs none

    found = bootstrap(
        columns, _rate_ratio, paired=True, vectorized=True, confidence_level=CONFIDENCE,
        n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    return float(found.low), float(found.high)


def prediction_of(run: RunTiming, costs: Costs) -> Prediction | None:
    """The closed form with a run's counted tokens and drafts; None when it counted none."""
    if not run.rounds or run.drafted is None:
        return None
    tokens, drafts = run.decode_tokens / run.rounds, run.drafted / run.rounds
    small, big, verify = costs.draft_seconds, costs.target_seconds(1), costs.target_seconds(drafts + 1)
    with_drafts, plain = run.steps_per_round * small + verify, tokens * big
    return Prediction(
        tokens_per_round=tokens,
        drafted_per_round=drafts,
        t_small=small,
        t_big=big,
        t_big_verify=verify,
        cost_ratio=small / big,
        verify_ratio=verify / big,
        with_drafts=with_drafts,
        plain=plain,
        speedup=plain / with_drafts,
        steps_per_round=run.steps_per_round,
    )


def verdict_of(
    ratio: Ratio | None,
    run: RunTiming,
    prediction: Prediction | None,
    *,
    drafts: bool = True,
    other_work: float | None = None,
) -> Verdict:
    """What may be said of a way. drafts: it should have drafted, so a run without any shows nothing.

    other_work: cores' worth of other programs' work meanwhile.
    """
    if drafts and run.tested == 0:
        key = "nothing_drafted"
    elif ratio is None or ratio.low is None or ratio.high is None or ratio.n < MIN_PAIRS:
        key = "too_noisy"
    elif ratio.low <= 1 <= ratio.high or ratio.high - ratio.low > MAX_WIDTH * ratio.pooled:
        key = "too_noisy"
    else:
        key = "faster" if ratio.low > 1 else "slower"
    return Verdict(
        key=key,
        speedup=ratio.pooled if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
        because=_because(prediction, other_work) if key == "slower" and prediction else None,
        alpha=run.acceptance_rate,
        tokens_per_round=run.tokens_per_round,
        cost_ratio=prediction.cost_ratio if prediction else None,
        verify_ratio=prediction.verify_ratio if prediction else None,
        break_even=prediction.with_drafts / prediction.t_big if prediction else None,
        other_work=other_work,
    )


def _because(prediction: Prediction, other_work: float | None) -> Because:
    """Which term makes it slower: see `Verdict`."""
    if other_work is not None and other_work >= BUSY_CORES:
        return "busy"
    drafting = prediction.steps_per_round * prediction.cost_ratio
    if prediction.tokens_per_round <= drafting + 1:
        return "cost_ratio"
    return "verify_ratio" if prediction.speedup <= 1 else "loop"


def rows_of(ways: Sequence[Way], prompts: int, samples: Sequence[Sample]) -> tuple[Row, ...]:
    """Each way over all prompts, then each way and prompt; only those that have runs."""
    cells = [(way, prompt) for prompt in (None, *range(prompts)) for way in range(len(ways))]
    return tuple(row_of(way, prompt, timings) for way, prompt in cells if (timings := timings_of(samples, way, prompt)))


def row_of(way: int, prompt: int | None, timings: Sequence[RunTiming]) -> Row:
    """A way's runs pooled."""
    timing = pooled(timings)
    return Row(
        way=way,
        prompt=prompt,
        runs=len(timings),
        timing=timing,
        decode_rate=timing.decode_rate,
        end_to_end_rate=timing.end_to_end_rate,
        acceptance_rate=timing.acceptance_rate,
        tokens_per_round=timing.tokens_per_round,
        loop_share=timing.loop_share,
    )


def results_of(
    ways: Sequence[Way], samples: Sequence[Sample], costs: Costs | None, other_work: float | None = None
) -> tuple[Result, ...]:
    """Each drafting way against plain decoding by the same engine, and specdec's ways against transformers'.

    other_work: cores' worth of other programs' work meanwhile.
    """
    results = [_result(way, base, ways, samples, costs, other_work) for way, base in opponents(ways)]
    return tuple(result for result in results if result)


def opponents(ways: Sequence[Way]) -> list[tuple[int, int]]:
    """(way, baseline): everything against specdec's plain decoding, then like against like across engines."""
    plain = {way.engine: index for index, way in enumerate(ways) if way.settings.gamma == 0}
    pairs = [(i, plain["specdec"]) for i in range(len(ways)) if "specdec" in plain and i != plain["specdec"]]
    for i, way in enumerate(ways):
        for j, other in enumerate(ways):
            if (way.engine, other.engine) == ("specdec", "transformers") and way.settings.gamma == other.settings.gamma:
                pairs.append((i, j))
    return list(dict.fromkeys(pairs))


def _result(
    way: int, base: int, ways: Sequence[Way], samples: Sequence[Sample], costs: Costs | None, other_work: float | None
) -> Result | None:
    fast, slow = timings_of(samples, way), timings_of(samples, base)
    if not fast or not slow:
        return None
    run = pooled(fast)
    own, against = ways[way], ways[base]
    predicted = own.engine == against.engine == "specdec" and own.settings.gamma > 0 and against.settings.gamma == 0
    prediction = prediction_of(run, costs) if costs and predicted else None
    ratio = ratio_of(fast, slow)
    return Result(
        way=way,
        baseline=base,
        speedup=ratio,
        prediction=prediction,
        measured_over_predicted=ratio.pooled / prediction.speedup if ratio and prediction else None,
        verdict=verdict_of(ratio, run, prediction, drafts=own.settings.gamma > 0, other_work=other_work),
    )


def sweep_of(comparison: Comparison, longest: int) -> Sweep:
    """Speedup against gamma, from a comparison with several draft lengths; the curve up to `longest`."""
    plain = comparison.way("plain")
    points = tuple(
        SweepPoint(
            gamma=comparison.ways[result.way].settings.gamma,
            result=result,
            alpha=result.verdict.alpha,
            tokens_per_round=result.verdict.tokens_per_round,
        )
        for result in comparison.results
        if result.baseline == plain and comparison.ways[result.way].engine == "specdec"
    )
    measured = [point for point in points if point.result.speedup]
    best = max(measured, key=lambda point: point.result.speedup.pooled, default=None)
    run = pooled(sample.timing for sample in comparison.samples if comparison.ways[sample.way].engine == "specdec")
    return Sweep(
        comparison=comparison,
        points=points,
        best_gamma=best.gamma if best and best.result.speedup.pooled > 1 else 0 if best else None,
        alpha=run.acceptance_rate,
        curve=_curve(run.acceptance_rate, comparison.costs, longest),
    )


def _curve(alpha: float | None, costs: Costs | None, longest: int) -> tuple[CurvePoint, ...]:
    if alpha is None or costs is None:
        return ()
    return tuple(
        CurvePoint(gamma, predicted_speedup(expected_tokens(alpha, gamma), gamma, costs.cost_ratio, costs.verify_ratio(gamma)))
        for gamma in range(longest + 1)
    )


def repeatable(ways: Sequence[Way], samples: Sequence[Sample]) -> bool | None:
    """At temperature 0: did every repeat of a run give the same counts? None when nothing ran twice there."""
    counts: dict[tuple[int, int], set[tuple]] = {}
    repeated = False
    for sample in samples:
        if ways[sample.way].settings.temperature == 0:
            seen = counts.setdefault((sample.way, sample.prompt), set())
            repeated |= bool(seen)
            run = sample.timing
            seen.add((run.tokens, run.rounds, run.drafted, run.tested, run.accepted))
    return all(len(seen) == 1 for seen in counts.values()) if repeated else None


def timings_of(samples: Sequence[Sample], way: int, prompt: int | None = None) -> list[RunTiming]:
    """The runs of a way, over all prompts or of one, in the order in which they were made."""
    return [sample.timing for sample in samples if sample.way == way and prompt in (None, sample.prompt)]
