"""The record of a comparison: who ran, every timed run, and what follows from them.

Plain data without torch, as in `records`; `compare` measures it, `statistics` draws the conclusions.
"""

from __future__ import annotations

from typing import Literal

from pydantic.dataclasses import dataclass

from specdec.settings import Settings
from specdec.timing.records import STRICT, Costs, Hardware, RunTiming, to_json

Engine = Literal["specdec", "transformers"]
VerdictKey = Literal["faster", "slower", "too_noisy", "nothing_drafted"]
Because = Literal["busy", "cost_ratio", "verify_ratio", "loop"]


@dataclass(frozen=True, config=STRICT)
class Prediction:
    """What the closed form makes of separately measured costs and the counted tokens of a run.

    The seed formula's own terms, seconds a round: with_drafts = n t_small + t_big', where n = steps_per_round,
    the drafts that no copy gave, and t_big' = t_target(drafted_per_round + 1); plain = (m + 1) t_big, where
    m + 1 = tokens_per_round. speedup = plain / with_drafts = tokens_per_round / (n c + v).
    """

    tokens_per_round: float
    drafted_per_round: float
    t_small: float
    t_big: float
    t_big_verify: float
    cost_ratio: float
    verify_ratio: float
    with_drafts: float
    plain: float
    speedup: float
    steps_per_round: float


@dataclass(frozen=True, config=STRICT)
class Ratio:
    """How many times as fast a way is as another: decode rate / the other's decode rate.

    pooled: all tokens / all seconds of one, over the same of the other; the headline. median, q1, q3:
    of the n paired ratios, one for each prompt and repeat. low, high: 95 % interval of the pooled
    ratio by bootstrap over the pairs; None with fewer than two. mean: of the pairs, to be compared.
    """

    pooled: float
    mean: float
    median: float
    q1: float
    q3: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, config=STRICT)
class Verdict:
    """The answer as a key for the page's sentences, with the numbers that go in.

    faster, slower: the interval lies on one side of 1. too_noisy: it holds 1, or is too wide, or there
    are too few pairs. nothing_drafted: no draft was tested, so nothing about drafting was measured.
    because (only with slower): busy, other programs worked beside it, which a draft of many short steps feels
    most; cost_ratio, drafting costs more than it can give (already at v = 1);
    verify_ratio, the pass over gamma + 1 tokens costs too much; loop, the models alone would be faster.
    break_even: tokens per round at which n c + v is paid back. other_work: cores' worth of it; None: not measured.
    """

    key: VerdictKey
    speedup: float | None
    low: float | None
    high: float | None
    because: Because | None
    alpha: float | None
    tokens_per_round: float | None
    cost_ratio: float | None
    verify_ratio: float | None
    break_even: float | None
    other_work: float | None = None


@dataclass(frozen=True, config=STRICT)
class Way:
    """One way to decode. engine: whose loop; settings.gamma 0 is plain decoding."""

    key: str
    engine: Engine
    settings: Settings


@dataclass(frozen=True, config=STRICT)
class Sample:
    """One timed run: indices of its way and prompt in the comparison, its repeat, its seed."""

    way: int
    prompt: int
    repeat: int
    seed: int
    timing: RunTiming


@dataclass(frozen=True, config=STRICT)
class Row:
    """A way's runs pooled, over all prompts (prompt None) or one. Rates: tokens per second."""

    way: int
    prompt: int | None
    runs: int
    timing: RunTiming
    decode_rate: float | None
    end_to_end_rate: float | None
    acceptance_rate: float | None
    tokens_per_round: float | None
    loop_share: float | None


@dataclass(frozen=True, config=STRICT)
class Result:
    """A way against a baseline (indices of ways). speedup None until a pair of runs exists.

    prediction: None for plain decoding, for transformers, and without measured costs.
    measured_over_predicted: speedup.pooled / prediction.speedup.
    """

    way: int
    baseline: int
    speedup: Ratio | None
    prediction: Prediction | None
    measured_over_predicted: float | None
    verdict: Verdict


@dataclass(frozen=True, config=STRICT)
class PromptNote:
    """A prompt of the benchmark: its text's beginning and its length in tokens."""

    text: str
    tokens: int


@dataclass(frozen=True, config=STRICT)
class Comparison:
    """Ways of decoding, measured side by side in one process by turns; it grows while it is measured.

    warm_up: untimed runs made before. repeats: planned; done / total: timed runs made and planned.
    samples: every timed run. rows: each way over all prompts, then each way and prompt.
    results: each way against plain decoding, then specdec against transformers' counterpart.
    repeatable: at temperature 0, whether every repeat of a run gave equal counts; None otherwise.
    """

    hardware: Hardware
    pair: str
    dtype: str
    prompts: tuple[PromptNote, ...]
    ways: tuple[Way, ...]
    warm_up: int
    repeats: int
    done: int
    total: int
    samples: tuple[Sample, ...]
    costs: Costs | None
    rows: tuple[Row, ...]
    results: tuple[Result, ...]
    repeatable: bool | None

    def way(self, key: str) -> int:
        """Index of the way with that key."""
        return [way.key for way in self.ways].index(key)

    def row(self, way: int, prompt: int | None = None) -> Row | None:
        """A way's row, or None before it has a run."""
        return next((row for row in self.rows if (row.way, row.prompt) == (way, prompt)), None)

    def result(self, way: int, baseline: int) -> Result | None:
        return next((result for result in self.results if (result.way, result.baseline) == (way, baseline)), None)

    def to_json(self) -> str:
        return to_json(self)


@dataclass(frozen=True, config=STRICT)
class CurvePoint:
    """speedup: predicted at gamma, from alpha and the measured costs."""

    gamma: int
    speedup: float


@dataclass(frozen=True, config=STRICT)
class SweepPoint:
    """One draft length: its result against plain decoding, its own alpha and tokens per round."""

    gamma: int
    result: Result
    alpha: float | None
    tokens_per_round: float | None


@dataclass(frozen=True, config=STRICT)
class Sweep:
    """Speedup against gamma.

    best_gamma: with the largest pooled speedup; 0 when none is above 1; None before any run. alpha:
    pooled over all draft lengths. curve: the closed form with that alpha, measured c and v(gamma);
    acceptance is taken as equal at every place, which real text only roughly obeys.
    """

    comparison: Comparison
    points: tuple[SweepPoint, ...]
    best_gamma: int | None
    alpha: float | None
    curve: tuple[CurvePoint, ...]

    def to_json(self) -> str:
        return to_json(self)
