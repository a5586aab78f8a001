"""Speedups that papers report, as a layer beside one's own. Other models, other machines: to compare shapes, not heights."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """gamma, alpha: None where the source gives none."""

    name: str
    gamma: int | None
    alpha: float | None
    speedup: float


LEVIATHAN = "Leviathan et al. 2023 (arXiv 2211.17192), table 2: T5-XXL 11B, TPU-v4"
SPEC_BENCH = "Spec-Bench (Xia et al. 2024, arXiv 2401.07851): Vicuna-7B, A100"


def _rows(task: str, temperature: int, gammas: tuple, alphas: tuple, speedups: tuple) -> list[Published]:
    drafts = ("T5-small 77M", "T5-base 250M", "T5-large 800M")
    return [
        Published(f"{draft}, {task}, T = {temperature}", gamma, alpha, speedup)
        for draft, gamma, alpha, speedup in zip(drafts, gammas, alphas, speedups)
    ]


LEVIATHAN_POINTS = (
    *_rows("EnDe", 0, (7, 7, 7), (0.75, 0.80, 0.82), (3.4, 2.8, 1.7)),
    *_rows("EnDe", 1, (7, 5, 3), (0.62, 0.68, 0.71), (2.6, 2.4, 1.4)),
    *_rows("CNN/DM", 0, (5, 5, 3), (0.65, 0.73, 0.74), (3.1, 3.0, 2.2)),
    *_rows("CNN/DM", 1, (5, 3, 3), (0.53, 0.55, 0.56), (2.3, 2.2, 1.7)),
)
SPEC_BENCH_POINTS = (
    Published("draft model 68M", None, None, 1.52),
    Published("prompt lookup", None, None, 1.66),
    Published("Medusa", None, None, 1.71),
    Published("EAGLE", None, None, 2.10),
    Published("EAGLE-2", None, None, 2.36),
)
