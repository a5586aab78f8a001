"""One prompt under every length policy: what each round drafted, kept, had rejected and wasted.

The record is plain data; only measuring it costs torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic.dataclasses import dataclass

from specdec.settings import POLICIES, BadInput, Settings
from specdec.timing.records import STRICT, Costs, Hardware, to_json
from specdec.trace.record import DraftingStop, Position, Round

if TYPE_CHECKING:
    from specdec.models.pairs import Pair

MOST = 8
Threshold = Literal["entropy", "confidence"]


@dataclass(frozen=True, config=STRICT)
class Draft:
    """A drafted token. chance: its probability under the law that drew it; entropy: of that law, in nats."""

    id: int
    text: str
    chance: float
    entropy: float


@dataclass(frozen=True, config=STRICT)
class DraftedRound:
    """limit: the most that the policy allowed; stopped: why there are no more drafts; doubt: as in `Round`."""

    limit: int
    stopped: DraftingStop
    doubt: float | None
    tested: int
    accepted: int
    emitted: int
    drafts: tuple[Draft, ...]

    @property
    def rejected(self) -> int:
        """Tested and not kept: 0 or 1."""
        return self.tested - self.accepted

    @property
    def wasted(self) -> int:
        """Drafted and never tested."""
        return len(self.drafts) - self.tested

    def hindsight(self, most: int) -> int:
        """The best length in hindsight: the drafts that were kept and the one behind them, at most `most`."""
        return min(self.accepted + 1, most)


@dataclass(frozen=True, config=STRICT)
class PolicyRun:
    """A run under one policy."""

    policy: str
    rounds: tuple[DraftedRound, ...]


@dataclass(frozen=True, config=STRICT)
class PolicyRuns:
    """The runs of one prompt, with `settings` but for the policy; it grows by a run at a time."""

    hardware: Hardware
    pair: str
    dtype: str
    prompt: str
    settings: Settings
    runs: tuple[PolicyRun, ...]
    done: int
    total: int

    def run(self, policy: str) -> PolicyRun | None:
        """The run under a policy, None before it was made."""
        return next((run for run in self.runs if run.policy == policy), None)

    def to_json(self) -> str:
        return to_json(self)


@dataclass(frozen=True, config=STRICT)
class Cut:
    """A round of which only the first `drafted` drafts are made."""

    drafted: int
    tested: int
    accepted: int
    emitted: int

    @property
    def wasted(self) -> int:
        return self.drafted - self.tested


def cut_round(round_: DraftedRound, kind: Threshold, threshold: float) -> Cut:
    """The round as it would be if drafting stopped behind the first draft that crosses the threshold.

    That is exact: a cut only removes drafts, and the verdicts on those before it don't change.
    """
    doubts = [d.entropy > threshold if kind == "entropy" else d.chance < threshold for d in round_.drafts]
    drafted = doubts.index(True) + 1 if True in doubts else len(doubts)
    return cut_to(round_, drafted)


def cut_to(round_: DraftedRound, drafted: int) -> Cut:
    """The round with its first `drafted` drafts alone; what it emits ends with the target's own token."""
    accepted = min(round_.accepted, drafted)
    return Cut(drafted, min(round_.tested, drafted), accepted, min(round_.emitted, accepted + 1))


def worth_of(cuts: list[Cut], costs: Costs) -> tuple[float, float]:
    """Tokens per round, and the speedup that the measured costs predict for such rounds."""
    tokens = sum(cut.emitted for cut in cuts)
    seconds = sum(cut.drafted * costs.draft_seconds + costs.target_seconds(cut.drafted + 1) for cut in cuts)
    return tokens / len(cuts), tokens * costs.target_seconds(1) / seconds


def run_policies(pair: Pair, prompt: str, settings: Settings | None = None, most: int = MOST) -> Iterator[PolicyRuns]:
    """The record after each policy's run. Sampled at temperature 1 with every id allowed, so that the laws that drew the
    drafts are those that the policies look at. settings: whose c and token cost `expected` uses, and the rest."""
    from specdec.recording import decode
    from specdec.timing.hardware import describe

    if pair.draft is None:
        raise BadInput("Length policies need a pair with a draft model.")
    same = dict(gamma=most, temperature=1.0, draft_temperature=None, top_k=0, top_p=1.0, drafter="model")
    chosen = (settings or Settings()).changed(**same)
    runs: list[PolicyRun] = []
    for policy in POLICIES:
        trace = decode(pair, prompt, chosen.changed(policy=policy))
        runs.append(PolicyRun(policy, tuple(_drafted_round(round_) for round_ in trace.rounds)))
        yield PolicyRuns(
            hardware=describe(pair.target.device),
            pair=pair.info.name,
            dtype=pair.dtype,
            prompt=prompt,
            settings=chosen,
            runs=tuple(runs),
            done=len(runs),
            total=len(POLICIES),
        )


def _drafted_round(round_: Round) -> DraftedRound:
    drafts = tuple(_draft(position) for position in round_.positions if position.draft_id is not None)
    return DraftedRound(
        limit=round_.limit or 0,
        stopped=round_.stopped or "limit",
        doubt=round_.doubt,
        tested=round_.tested,
        accepted=round_.accepted,
        emitted=round_.emitted,
        drafts=drafts,
    )


def _draft(position: Position) -> Draft:
    text = next((c.text for c in position.candidates if c.id == position.draft_id), "")
    return Draft(position.draft_id or 0, text, position.q or 0.0, position.draft_entropy or 0.0)
