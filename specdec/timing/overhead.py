"""What the engine adds to the models' passes, and what recording adds to the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

from pydantic.dataclasses import dataclass

from specdec import recording
from specdec.models.pairs import Pair
from specdec.settings import BadInput, Settings
from specdec.timing.clock import time_run
from specdec.timing.hardware import describe
from specdec.timing.records import STRICT, Hardware, RunTiming, Spread, pooled, to_json
from specdec.timing.statistics import spread
from specdec.trace.growing import GrowingTrace

REPEATS = 5
WARM_UP_TOKENS = 16


@dataclass(frozen=True, config=STRICT)
class Overhead:
    """Shares of decode time.

    plain, speculative: all runs pooled; their loop_share is what is no model pass. plain_shares,
    speculative_shares: the spread of loop_share over runs. recording_share: seconds spent in
    `Recorder.step` over the decode seconds of the same run. snapshot_share: the same for making a
    whole trace after every round, as `specdec.stream` does; a page is sent the new round alone.
    """

    hardware: Hardware
    pair: str
    dtype: str
    settings: Settings
    plain: RunTiming
    speculative: RunTiming
    plain_shares: Spread
    speculative_shares: Spread
    recording_share: Spread
    snapshot_share: Spread
    done: int
    total: int

    def to_json(self) -> str:
        return to_json(self)


def measure_overhead(
    pair: Pair, prompts: Sequence[str], settings: Settings | None = None, *, repeats: int = REPEATS
) -> Iterator[Overhead]:
    """The record after every prompt of every repeat, after a short warm-up. Close it to stop."""
    settings = settings or Settings()
    if pair.target.device.type != "cpu":
        raise BadInput("Loop overhead is measured on the CPU: elsewhere timing every pass changes what is timed.")
    plain, fast, shares = [], [], []
    encoded = [pair.encode(prompt, chat=settings.chat) for prompt in prompts]
    for gamma in (0, settings.gamma):
        time_run(pair, encoded[0], settings.changed(gamma=gamma, max_new_tokens=WARM_UP_TOKENS))
    for _ in range(repeats):
        for prompt, ids in zip(prompts, encoded):
            plain.append(time_run(pair, ids, settings.changed(gamma=0)))
            fast.append(time_run(pair, ids, settings))
            shares.append(_recording_shares(pair, prompt, ids, settings))
            yield Overhead(
                hardware=describe(pair.target.device),
                pair=pair.info.name,
                dtype=pair.dtype,
                settings=settings,
                plain=pooled(plain),
                speculative=pooled(fast),
                plain_shares=spread([run.loop_share for run in plain]),
                speculative_shares=spread([run.loop_share for run in fast]),
                recording_share=spread([recorded for recorded, _ in shares]),
                snapshot_share=spread([snapshot for _, snapshot in shares]),
                done=len(fast),
                total=repeats * len(encoded),
            )


def _recording_shares(pair: Pair, prompt: str, ids: list[int], settings: Settings) -> tuple[float, float]:
    """(seconds in step, seconds in trace) over the decode seconds of one recorded run."""
    recorder, growing = recording.Recorder(pair, prompt, ids, settings), None
    decode = stepping = snapshots = 0.0
    for round_ in recording.run(pair, ids, settings):
        growing = growing or GrowingTrace(recorder.start(round_))
        decode += round_.finished - round_.started
        began = perf_counter()
        step = recorder.step(round_)
        recorded = perf_counter()
        growing.add(step)
        growing.trace()
        stepping += recorded - began
        snapshots += perf_counter() - recorded
    return stepping / decode, snapshots / decode
