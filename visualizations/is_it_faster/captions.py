"""The captions of the figures on speed: what each shows, in numbers. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specdec.timing.comparison import Comparison, Sweep, SweepPoint
from specdec.timing.records import Costs
from visualizations.figures.roofline import GIGA, verification_of
from visualizations.figures.time_spent import splits_of
from visualizations.text import t

if TYPE_CHECKING:  # importing it costs torch
    from specdec.timing.roofline import Roofline


def time_caption(comparison: Comparison, way: int) -> str:
    """Every bar's sum."""
    names = "; ".join(f"{split.name}: {split.seconds:.2f} s" for split in splits_of(comparison, way))
    return t("faster.time.said", names=names)


def pass_caption(costs: Costs, gamma: int) -> str:
    """What a pass over 1, gamma + 1 and the most tokens takes."""
    last = costs.target[-1]
    return t(
        "faster.why.pass_said",
        one=f"{1e3 * costs.target_seconds(1):.1f}",
        tokens=gamma + 1,
        many=f"{1e3 * costs.target_seconds(gamma + 1):.1f}",
        v=f"{costs.verify_ratio(gamma):.2f}",
        most=last.tokens,
        last=f"{1e3 * last.seconds.median:.1f}",
        n=last.seconds.n,
    )


def rate_caption(costs: Costs, gamma: int) -> str:
    """Tokens a second at the same three widths."""
    last = costs.target[-1]
    return t(
        "faster.why.rate_said",
        one=f"{1 / costs.target_seconds(1):.0f}",
        tokens=gamma + 1,
        many=f"{(gamma + 1) / costs.target_seconds(gamma + 1):.0f}",
        most=last.tokens,
        last=f"{last.tokens / last.seconds.median:.0f}",
    )


def roofline_caption(roofline: Roofline, gamma: int) -> str:
    """Where one token, a verification and the longest prefill lie."""
    one = min((p for p in roofline.points if p.kind == "decode"), key=lambda p: p.tokens)
    many = verification_of(roofline, gamma) or one
    longest = max((p for p in roofline.points if p.kind == "prefill"), key=lambda p: p.tokens, default=many)
    top = roofline.ceilings
    return t(
        "faster.why.roofline_said",
        one=f"{one.intensity:.2g}",
        one_rate=f"{one.flop_rate / GIGA:.3g}",
        one_bytes=f"{one.byte_rate / GIGA:.3g}",
        one_share=f"{100 * one.byte_rate / top.byte_rate:.0f}",
        tokens=many.tokens,
        many=f"{many.intensity:.2g}",
        many_rate=f"{many.flop_rate / GIGA:.3g}",
        length=longest.tokens,
        prefill_rate=f"{longest.flop_rate / GIGA:.3g}",
        prefill_share=f"{100 * longest.flop_rate / top.flop_rate:.0f}",
        n=one.seconds.n,
    )


@dataclass(frozen=True)
class BestLength:
    """The fastest of the measured draft lengths. near: those that noise can't tell from it; kind: 'best', 'none' where
    plain decoding is faster, 'noisy' where the interval leaves that open."""

    point: SweepPoint
    near: tuple[int, ...]
    kind: str


def best_length(sweep: Sweep) -> BestLength | None:
    """None before any run."""
    measured = [point for point in sweep.points if point.result.speedup]
    if not measured:
        return None
    best = max(measured, key=lambda point: point.result.speedup.pooled)
    ratio = best.result.speedup
    near = tuple(p.gamma for p in measured if p is not best and ratio.low and (p.result.speedup.high or 0) >= ratio.low)
    kind = "noisy" if best.result.verdict.key == "too_noisy" else "best" if ratio.pooled > 1 else "none"
    return BestLength(best, near, kind)


def sweep_caption(sweep: Sweep) -> str:
    """The best measured draft length with its interval and those that noise can't tell from it; '' before any run."""
    best, costs = best_length(sweep), sweep.comparison.costs
    if best is None:
        return ""
    ratio = best.point.result.speedup
    said = t(
        f"faster.sweep.said.{best.kind}",
        gamma=best.point.gamma,
        speedup=f"{ratio.pooled:.2f}",
        low="–" if ratio.low is None else f"{ratio.low:.2f}",
        high="–" if ratio.high is None else f"{ratio.high:.2f}",
        n=ratio.n,
        alpha="–" if sweep.alpha is None else f"{sweep.alpha:.2f}",
        c="–" if costs is None else f"{costs.cost_ratio:.3f}",
    )
    return f"{said} {t('faster.sweep.said.near', gammas=', '.join(map(str, best.near)))}" if best.near else said
