"""From a trace to what the page needs of it: plain JSON data of about 1 KB a position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specdec.settings import EXACT_RULES
from specdec.trace.record import Metrics, Position, Round
from specdec.trace.trace import Trace
from visualizations.figures.labels import token_label
from visualizations.step_through.run_view.ranks import drawn_from, replacement_law
from visualizations.step_through.run_view.rounding import rounding_apart
from visualizations.text import t


def run_view_value(trace: Trace | None, frames: Sequence[dict], running: bool) -> dict[str, Any]:
    """The value of a `RunView`.

    trace: the run, or its beginning while it runs; None for an empty view. frames: `bar_frame` of each of
    `trace.positions`, in order (they hold the candidates, which are left out here). running: more is to come.
    """
    if trace is None:
        return {"running": running, "rounds": [], "frames": []}
    if len(frames) != len(trace.positions):
        raise ValueError(f"{len(frames)} frames for {len(trace.positions)} positions")
    return {
        "running": running,
        "rule": trace.settings.rule,
        "law": replacement_law(trace.settings.rule),
        "greedy": trace.settings.temperature == 0 and trace.settings.rule in EXACT_RULES,
        "lookup": trace.settings.drafter == "prompt_lookup",
        "rounding": rounding_apart(trace.pair.target, trace.pair.draft, trace.dtype, trace.settings),
        "settings": settings_line(trace),
        "metrics": _metrics(trace.metrics, trace),
        "prompt": [_token(token.text, token.id, token.special, token.bytes) for token in trace.prompt.tokens],
        "rounds": [_round(round_, trace) for round_ in trace.rounds],
        "frames": list(frames),
        "text": trace.output.text,
        "stop": trace.output.stop_reason,
    }


def settings_line(trace: Trace) -> list[str]:
    """What was really run, in the order of the settings line."""
    settings, words = trace.settings, "run_view.settings."
    lookup = settings.drafter == "prompt_lookup" and settings.gamma > 0
    draft = t(words + "lookup") if lookup else trace.pair.draft
    pair = words + ("pair" if draft else "pair_alone")
    parts = [t(pair, target=trace.pair.target, draft=draft), t(words + "temperature", value=f"{settings.temperature:g}")]
    if settings.draft_temperature is not None and settings.gamma > 0:
        parts.append(t(words + "draft_temperature", value=f"{settings.draft_temperature:g}"))
    if settings.top_k:
        parts.append(t(words + "top_k", value=settings.top_k))
    parts.append(t(words + "top_p", value=f"{settings.top_p:g}"))
    parts.append(t(words + "gamma", value=settings.gamma))
    if settings.gamma > 0:
        parts.append(t(f"run_view.rules.{settings.rule}"))
    parts.append(t(words + ("chat" if settings.chat else "raw")))
    return [*parts, t(words + "seed", value=trace.seed)]


def _metrics(metrics: Metrics, trace: Trace) -> dict[str, Any]:
    return {
        "tokens": metrics.emitted,
        "rounds": metrics.rounds,
        "per_round": metrics.tokens_per_round,
        "alpha": metrics.acceptance_rate,
        "accepted": metrics.accepted,
        "tested": metrics.tested,
        "speed": metrics.tokens_per_second,
        "prefill": metrics.prefill_seconds,
        "device": trace.device,
        "dtype": trace.dtype,
    }


def _round(round_: Round, trace: Trace) -> dict[str, Any]:
    return {
        "drafted": round_.drafted,
        "accepted": round_.accepted,
        "emitted": round_.emitted,
        "positions": [_position(position, trace) for position in round_.positions],
    }


def _position(position: Position, trace: Trace) -> dict[str, Any]:
    """The facts of a position that aren't in its bars; what is None is left out.

    r, rank: probability and rank of the emitted token in the law that it was drawn from.
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
    facts["r"], facts["rank"] = drawn_from(position, trace.settings.rule)
    return {name: _short(fact) for name, fact in facts.items() if fact is not None}


def _token(text: str, token_id: int, special: bool, part: str | None) -> dict[str, Any]:
    token: dict[str, Any] = {"label": token_label(text, token_id, part), "id": token_id}
    if special:
        token["special"] = True
    if part:
        token["part"] = part
    return token


def _short(fact: Any) -> Any:
    return float(f"{fact:.5g}") if isinstance(fact, float) else fact
