"""From a run to what the page needs of it: plain JSON data of about 1 KB a position, sent round by round."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from secrets import token_hex
from typing import Any

from specdec.settings import EXACT_RULES, Settings
from specdec.trace.drafted import is_copy
from specdec.trace.growing import GrowingTrace, Step
from specdec.trace.record import Metrics, Position
from specdec.trace.trace import Trace
from visualizations.figures.labels import token_label
from visualizations.figures.token_bars import bar_frame
from visualizations.step_through.run_view.ranks import drawn_from, replacement_law
from visualizations.step_through.run_view.rounding import rounding_apart
from visualizations.text import t

ABOUT = 60


def new_run() -> str:
    """A name that no other run has."""
    return token_hex(8)


def empty_value(run: str, running: bool) -> dict[str, Any]:
    """The value of a `RunView` for a run without a round. running: its first is still to come."""
    return {"run": run, "first": 0, "running": running, "rounds": []}


def mark_again(rounds: int) -> dict[str, Any]:
    """Tells a page that a run's rounds behind so many come a second time, from elsewhere: those it has are void."""
    return {"mark": new_run(), "rounds": rounds}


class ShownRun:
    """A run on screen. Each round is put into the page's terms once, when it joins.

    record: the same run as a trace that grows; text: its output so far. One thread adds, any may read. beside: what
    plain decoding says about it. again: its `mark_again`, if it was begun again.
    """

    def __init__(
        self, start: Trace, run: str, origin: dict[str, Any] | None = None, again: dict[str, Any] | None = None
    ) -> None:
        self.run = run
        self.record = GrowingTrace(start)
        self.running = True
        self.beside: dict[str, Any] | None = None
        self.again = again
        self._rounds: list[dict[str, Any]] = []
        self.text = ""
        self.paused: dict[str, Any] | None = None
        self._start = _start(start) | ({"origin": origin} if origin else {})
        self._metrics = _metrics(self.record.metrics, start)

    @classmethod
    def whole(cls, trace: Trace, run: str, origin: dict[str, Any] | None = None) -> ShownRun:
        """A run that is over."""
        shown = cls(replace(trace, rounds=()), run, origin)
        for round_ in trace.rounds:
            shown.add(Step(round_, trace.output.stop_reason))
        shown.end()
        return shown

    def named(self, run: str) -> ShownRun:
        """The same run, which is over, by another name."""
        other = copy(self)
        other.run = run
        return other

    def begun_again(self, again: dict[str, Any]) -> ShownRun:
        """The run as it was when the rounds that come again were still to come."""
        trace = self.record.trace()
        shown = ShownRun.whole(replace(trace, rounds=trace.rounds[: again["rounds"]]), self.run)
        shown.again, shown._start = again, self._start
        shown.go_on()
        return shown

    def add(self, step: Step) -> None:
        """Join one more round."""
        self.record.add(step)
        self.text += step.text
        self._metrics = _metrics(self.record.metrics, self.record.start)
        self._rounds.append(_round(step, self.record.start.settings))

    def end(self, paused: dict[str, Any] | None = None) -> None:
        """No round will join any more, or for now: paused has the place of the newest round that was waited for."""
        self.paused = paused
        self.running = False

    def go_on(self) -> None:
        """More rounds will join."""
        self.paused, self.running = None, True

    def __len__(self) -> int:
        """Rounds so far."""
        return len(self._rounds)

    def since(self, first: int) -> dict[str, Any]:
        """The value of a `RunView` that has the rounds before number `first`: what it lacks, from 0 the whole.

        run: tells runs apart. running: more is to come. metrics, stop, paused: of the run so far. With first 0 there
        is also what belongs to the run and not to a round of it.
        """
        running, stop = self.running, self.record.stop_reason  # before the rounds: a run that is over is whole
        value = {"run": self.run, "first": first, "running": running, "rounds": self._rounds[first:]}
        value |= {"metrics": self._metrics, "stop": stop, "paused": self.paused}
        value |= {"beside": self.beside} if self.beside else {}
        value |= {"again": self.again} if self.again else {}
        return value | (self._start if first == 0 else {})


def run_view_value(trace: Trace, run: str | None = None, origin: dict[str, Any] | None = None) -> dict[str, Any]:
    """The value of a `RunView` for a whole trace. run: its name, a new one unless given; origin: of a branch."""
    return ShownRun.whole(trace, run or new_run(), origin).since(0)


def _start(trace: Trace) -> dict[str, Any]:
    return {
        "rule": trace.settings.rule,
        "law": replacement_law(trace.settings.rule),
        "greedy": trace.settings.temperature == 0 and trace.settings.rule in EXACT_RULES,
        "policy": trace.settings.policy,
        "threshold": _threshold(trace.settings),
        "most": trace.settings.gamma,
        "vocabulary": trace.pair.vocab_size,
        "rounding": rounding_apart(trace.pair.target, trace.pair.draft, trace.dtype, trace.settings),
        "settings": settings_line(trace),
        "about": trace.prompt.text[:ABOUT],
        "prompt": [_token(token.text, token.id, token.special, token.bytes) for token in trace.prompt.tokens],
        "written": trace.resumed.written if trace.resumed else 0,
        "rounds_before": trace.resumed.resampling if trace.resumed else 0,
    }


def settings_line(trace: Trace) -> list[str]:
    """What was really run, in the order of the settings line."""
    settings, words = trace.settings, "run_view.settings."
    draft = _drafter(trace)
    pair = words + ("pair" if draft else "pair_alone")
    parts = [t(pair, target=trace.pair.target, draft=draft), t(words + "temperature", value=f"{settings.temperature:g}")]
    if settings.draft_temperature is not None and settings.gamma > 0:
        parts.append(t(words + "draft_temperature", value=f"{settings.draft_temperature:g}"))
    if settings.top_k:
        parts.append(t(words + "top_k", value=settings.top_k))
    parts.append(t(words + "top_p", value=f"{settings.top_p:g}"))
    parts.append(t(words + ("gamma" if settings.policy == "fixed" else "gamma_at_most"), value=settings.gamma))
    if settings.gamma > 0:
        if settings.policy != "fixed":
            parts.append(t(f"{words}policy.{settings.policy}", value=_threshold(settings)))
        parts.append(t(f"run_view.rules.{settings.rule}"))
    parts.append(t(words + ("chat" if settings.chat else "raw")))
    return [*parts, t(words + "seed", value=trace.seed)]


def _drafter(trace: Trace) -> str | None:
    """Who drafted, as the settings line says it; None where nobody did."""
    drafter, draft = trace.settings.drafter, trace.pair.draft
    if trace.settings.gamma == 0 or drafter == "model":
        return draft
    return t(f"run_view.settings.{drafter}", draft=draft)


def _threshold(settings: Settings) -> str | None:
    """What the policy compares a draft with, as it is shown."""
    return None if settings.threshold is None else f"{settings.threshold:.3g}"


def _metrics(metrics: Metrics, start: Trace) -> dict[str, Any]:
    return {
        "tokens": metrics.emitted,
        "rounds": metrics.rounds,
        "per_round": metrics.tokens_per_round,
        "alpha": metrics.acceptance_rate,
        "accepted": metrics.accepted,
        "tested": metrics.tested,
        "speed": metrics.tokens_per_second,
        "prefill": metrics.prefill_seconds,
        "device": start.device,
        "dtype": start.dtype,
    }


def _round(step: Step, settings: Settings) -> dict[str, Any]:
    """frames: `bar_frame` of each position (they hold the candidates, which are left out here)."""
    drafting = {name: _short(getattr(step.round, name)) for name in ("limit", "stopped", "doubt")}
    return {name: value for name, value in drafting.items() if value is not None} | {
        "drafted": step.round.drafted,
        "accepted": step.round.accepted,
        "emitted": step.round.emitted,
        "text": step.text,
        "positions": [_position(position, settings) for position in step.round.positions],
        "frames": [bar_frame(position) for position in step.round.positions],
    }


def _position(position: Position, settings: Settings) -> dict[str, Any]:
    """The facts of a position that aren't in its bars; what is None is left out.

    r, rank: probability and rank of the emitted token in the law that it was drawn from. units: of its text in the
    round's, counted as the page counts, where the label has another number.
    """
    facts = _token(position.text, position.token_id, position.special, position.bytes) | {
        "kind": position.kind,
        "number": position.output_index + 1,
        "p": position.p,
        "q": position.q,
        "accept": position.accept_probability,
        "coin": position.coin,
        "overlap": position.overlap,
        "residual": position.residual_mass,
        "target_entropy": position.target_entropy,
        "draft_entropy": position.draft_entropy,
    }
    if position.kind == "replaced":
        draft = next((c for c in position.candidates if c.id == position.draft_id), None)
        facts["draft"] = token_label(draft.text if draft else "", position.draft_id or 0, draft and draft.bytes)
        facts["draft_id"] = position.draft_id
    if _units(position.text) != _units(facts["label"]):
        facts["units"] = _units(position.text)
    facts["r"], facts["rank"] = drawn_from(position, settings.rule)
    if position.draft_id is not None and is_copy(position, settings):
        facts["copied"] = True
    short = {name: _short(fact) for name, fact in facts.items() if fact is not None}
    # In full, because it is asked where exactly it falls.
    return short | ({} if position.token_uniform is None else {"uniform": position.token_uniform})


def _token(text: str, token_id: int, special: bool, part: str | None) -> dict[str, Any]:
    token: dict[str, Any] = {"label": token_label(text, token_id, part), "id": token_id}
    if special:
        token["special"] = True
    if part:
        token["part"] = part
    return token


def _units(text: str) -> int:
    """The length of a text in JavaScript."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _short(fact: Any) -> Any:
    return float(f"{fact:.5g}") if isinstance(fact, float) else fact
