"""Which draft: every drafter that a pair can have, on the same prompts, by what it costs and what it gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic.dataclasses import dataclass
from transformers import PreTrainedModel

from specdec.models.cancelling import CancellableModel
from specdec.models.catalogue import DEFAULT_PAIR
from specdec.models.pairs import Pair, language_model
from specdec.models.student import load_student
from specdec.settings import BadInput, Settings
from specdec.timing.clock import time_run
from specdec.timing.costs import CostSampler
from specdec.timing.hardware import describe
from specdec.timing.records import STRICT, Costs, Hardware, RunTiming, pooled, to_json
from specdec.timing.statistics import ratio_of

HEADS = (4096, 8192, 16384)
COST_SAMPLES = 4
REPEATS = 3


@dataclass(frozen=True, config=STRICT)
class DrafterPoint:
    """What one drafter costs and gives. cost_ratio: c of its model's step, 0 where it only copies.

    steps_per_round: of its model; speedup, low, high: decode rate over that of plain decoding, pooled, with its 95 %
    interval, None before two pairs of runs exist.
    """

    key: str
    cost_ratio: float
    alpha: float | None
    tokens_per_round: float | None
    steps_per_round: float | None
    speedup: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, config=STRICT)
class Drafters:
    """Drafters side by side, `settings.gamma` drafts a round; it grows while it is measured.

    costs: of the pair's own draft, for v and for the speedup that other values of c and alpha would give.
    done, total: timed runs.
    """

    hardware: Hardware
    pair: str
    dtype: str
    settings: Settings
    prompts: int
    costs: Costs
    points: tuple[DrafterPoint, ...]
    done: int
    total: int

    def to_json(self) -> str:
        return to_json(self)


def measure_drafters(
    pair: Pair, prompts: Sequence[str], settings: Settings | None = None, *, repeats: int = REPEATS
) -> Iterator[Drafters]:
    """The record after each prompt of each repeat; plain decoding and the drafters follow one another by turns."""
    settings = (settings or Settings()).changed(drafter="model", policy="fixed")
    if pair.draft is None or settings.gamma == 0:
        raise BadInput("Drafters are compared on a pair with a draft model, with gamma 1 or more.")
    ids = [pair.encode(prompt, chat=settings.chat) for prompt in prompts]
    runners = drafters_of(pair, settings)
    own = _costs(pair, settings.gamma)
    costs = {key: own if runner is pair else _costs(runner, settings.gamma) for key, (runner, _) in runners.items()}
    plain = (pair, settings.changed(gamma=0))
    runs: dict[str, list[RunTiming]] = {key: [] for key in ("plain", *runners)}
    for repeat in range(repeats):
        for tokens in ids:
            order = [("plain", plain), *runners.items()]
            for key, (runner, chosen) in order if repeat % 2 == 0 else reversed(order):
                seeded = replace(chosen, seed=settings.seed + repeat)
                runs[key].append(time_run(runner, tokens, seeded, inside=pair.target.device.type == "cpu"))
            yield Drafters(
                hardware=describe(pair.target.device),
                pair=pair.info.name,
                dtype=pair.dtype,
                settings=settings,
                prompts=len(ids),
                costs=own,
                points=tuple(_point(key, costs[key], runs[key], runs["plain"]) for key in runners),
                done=sum(map(len, runs.values())),
                total=repeats * len(ids) * len(runs),
            )


def drafters_of(pair: Pair, settings: Settings) -> dict[str, tuple[Pair, Settings]]:
    """The pair's own draft, copying alone and before it, the target drafting for itself, and the student's smaller
    heads, each with the settings that choose it."""
    found = {key: (pair, settings.changed(drafter=key)) for key in ("model", "prompt_lookup", "lookup_then_model")}
    network = getattr(pair.target, "model", None)
    networks = {}
    if isinstance(network, PreTrainedModel):
        networks["target"] = network
        if pair.info.name == DEFAULT_PAIR:
            networks |= {f"head_{head}": load_student(network, head=head) for head in HEADS}
    return found | {key: (_drafting(pair, key, drafting), settings) for key, drafting in networks.items()}


def _drafting(pair: Pair, key: str, network: PreTrainedModel) -> Pair:
    model = language_model(network, key, pair.target.vocab_size)
    return replace(pair, draft=CancellableModel(model, pair.check))


def _costs(pair: Pair, gamma: int) -> Costs:
    sampler = CostSampler(pair, widths=range(1, gamma + 2), planned=COST_SAMPLES)
    sampler.sample(count=False)
    for _ in range(COST_SAMPLES):
        sampler.sample()
    return sampler.costs()


def _point(key: str, costs: Costs, runs: Sequence[RunTiming], plain: Sequence[RunTiming]) -> DrafterPoint:
    run, ratio = pooled(runs), ratio_of(runs, plain)
    return DrafterPoint(
        key=key,
        cost_ratio=0.0 if key == "prompt_lookup" else costs.cost_ratio,
        alpha=run.acceptance_rate,
        tokens_per_round=run.tokens_per_round,
        steps_per_round=run.steps_per_round,
        speedup=ratio.pooled if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
    )
