"""The tables of the exactness tab: several tokens, blocks, and acceptance by rule over a run.

All numbers are computed by the engine, none is written here. torch is imported when a table is asked for:
the page opens without it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from specdec.exactness import acceptance
from specdec.exactness.acceptance import Bounds
from specdec.settings import EXACT_RULES, MISREPORTING_RULES, RULES, Settings
from specdec.trace.record import Position
from specdec.trace.trace import Trace
from visualizations.components.table_view import table
from visualizations.figures.labels import token_label
from visualizations.serving.engine_imports import import_engine
from visualizations.text import Piece, data, pieces, t
from visualizations.why_exact.bars import Bars

if TYPE_CHECKING:
    from torch import Tensor

WORDS = ("the", "cat", "sleeps")
TARGET_TABLE = ((0.1, 0.6, 0.3), (0.5, 0.1, 0.4), (0.7, 0.2, 0.1))
DRAFT_TABLE = ((0.2, 0.3, 0.5), (0.3, 0.3, 0.4), (0.4, 0.5, 0.1))
EXAMPLE = (1, 2, 0)
GAMMA, LENGTH = 2, 3
MARKOV_RULES = tuple(rule for rule in RULES if rule not in MISREPORTING_RULES)
BLOCK_TARGET, BLOCK_DRAFT = (1 / 3, 2 / 3), (2 / 3, 1 / 3)
BLOCK_RULES = ("token", "block")


def rule_name(rule: str) -> str:
    """The rule's name on screen."""
    return t(f"exact.playground.rules.{rule}.name")


def kind_of(rule: str) -> str:
    """'exact' or 'biased'."""
    return "exact" if rule in EXACT_RULES else "biased"


@lru_cache(maxsize=1)
def several_tokens() -> list[dict[str, Any]]:
    """Why a round of several drafts is exact: the law of texts by enumeration, and block verification."""
    return [_texts_table(), _block_table()]


def _texts_table() -> dict[str, Any]:
    import_engine()
    import torch

    from specdec.decoding.lengths import Fixed
    from specdec.decoding.rules import rule_of
    from specdec.exactness.laws import distance_of_texts, expected_accepted, sequence_law, target_sequence_law

    target = torch.tensor(TARGET_TABLE, dtype=torch.float64)
    draft = torch.tensor(DRAFT_TABLE, dtype=torch.float64)
    truth = target_sequence_law(target, LENGTH)
    rows = []
    for name in MARKOV_RULES:
        rule = rule_of(Settings(rule=name))
        law = sequence_law(rule, target, draft, Fixed(GAMMA), LENGTH)
        kept = expected_accepted(rule, target, draft, GAMMA)
        rows.append([rule_name(name), _number(distance_of_texts(law, truth)), _number(law[EXAMPLE], 5), _number(kept)])
    words = "exact.several."
    text = data(" ".join(WORDS[token] for token in EXAMPLE))
    return table(
        [
            t(words + "rule"),
            t(words + "tv"),
            pieces(words + "example", text=text, p=_number(truth[EXAMPLE], 5)),
            t(words + "kept"),
        ],
        rows,
        intro=t(words + "why"),
        caption=t(words + "proof", gamma=GAMMA, texts=len(WORDS) ** LENGTH, length=LENGTH),
        tags=[kind_of(name) for name in MARKOV_RULES],
    )


def _block_table() -> dict[str, Any]:
    import_engine()
    import torch

    from specdec.decoding.rules import rule_of

    p, q = _block_laws()
    rules = {name: rule_of(Settings(rule=name)) for name in BLOCK_RULES}
    coins = torch.full((2,), 0.5, dtype=torch.float64)
    rows = []
    for ids in ((0, 0), (0, 1), (1, 0), (1, 1)):
        drafts = torch.tensor(ids)
        first, both = rules["token"](p[[0, 0, 0]], q, drafts, coins).accept_probabilities.tolist()
        passes = rules["block"](p[[0, 0, 0]], q, drafts, coins).accept_probabilities.tolist()
        by_token = first + first * both
        by_block = 2 * passes[1] + (1 - passes[1]) * passes[0]
        chance = float(q[0, ids[0]] * q[1, ids[1]])
        rows.append([data(" ".join("AB"[i] for i in ids)), *map(_fraction, (chance, by_token, by_block))])
    words = "exact.several."
    rows.append([t(words + "mean"), "", *(f"{_fraction(mean)} = {mean:.3f}" for mean in _block_means())])
    columns = [t(words + key) for key in ("drafts", "drafted", "token_keeps", "block_keeps")]
    return table(columns, rows, title=t(words + "block_title"), intro=t(words + "block"), marked=1)


def _block_laws() -> tuple[Tensor, Tensor]:
    import torch

    p, q = (torch.tensor(law, dtype=torch.float64).expand(2, -1) for law in (BLOCK_TARGET, BLOCK_DRAFT))
    return p, q


def _block_means() -> list[float]:
    """Drafts kept of two, by each of `BLOCK_RULES`."""
    from specdec.decoding.rules import rule_of
    from specdec.exactness.laws import expected_accepted

    return [expected_accepted(rule_of(Settings(rule=name)), *_block_laws(), 2) for name in BLOCK_RULES]


def several_result() -> str:
    """Drafts kept of two by block verification, against one by one."""
    import_engine()
    token, block = map(_fraction, _block_means())
    return t("exact.result.several", block=block, token=token)


def acceptance_result(trace: Trace) -> str:
    """What the run's rule kept, beside what its probabilities promised where they tell it."""
    rule, metrics = trace.settings.rule, trace.metrics
    run = acceptance.over_run(trace)
    if not run or metrics.acceptance_rate is None:
        return t("exact.acceptance.none")
    counted = {"rule": rule_name(rule), "accepted": metrics.accepted, "tested": metrics.tested, "rate": _number(metrics.acceptance_rate)}
    if rule not in run:
        return t("exact.result.kept", **counted)
    return t("exact.result.kept_expected", **counted, expected=_bounds(run[rule]))


def today_table(bars: Bars) -> list[dict[str, Any]]:
    """Drafts kept by a round of two on these bars, by the exact rules."""
    import_engine()
    import torch

    from specdec.decoding.rules import rule_of
    from specdec.exactness.laws import expected_accepted

    size = len(bars.names)
    target, draft = (torch.tensor(law, dtype=torch.float64).expand(size, -1) for law in (bars.p_big, bars.p_small))
    rows = []
    for name in ("match", "token", "block"):
        kept = expected_accepted(rule_of(Settings(rule=name)), target, draft, 2)
        rows.append([rule_name(name), _number(kept), _number(kept + 1)])
    words = "exact.several."
    columns = [t(words + key) for key in ("today_rule", "today_kept", "today_tokens")]
    return [table(columns, rows, title=t(words + "today_title"), intro=t(words + "today"))]


def acceptance_table(trace: Trace, index: int) -> list[dict[str, Any]]:
    """Expected acceptance by rule at position `index` and over the run, beside what was observed."""
    words = "exact.acceptance."
    run, kept = acceptance.over_run(trace), acceptance.kept_a_round(trace)
    if not run:
        return [table((), (), intro=t(words + "none"))]
    position = trace.positions[index]
    here = acceptance.at_position(position, trace.settings)
    metrics = trace.metrics
    rows = []
    for rule in acceptance.POSITION_RULES:
        at_here = _bounds(here[rule]) if here else t(words + "none_here")
        seen = seen_kept = t(words + "not_run")
        if rule == trace.settings.rule:
            rate = _number(metrics.acceptance_rate or 0)
            seen = t(words + "observed_is", accepted=metrics.accepted, tested=metrics.tested, rate=rate)
            seen_kept = _number(metrics.accepted_per_round or 0)
        rows.append([rule_name(rule), t(words + f"formulas.{rule}"), at_here, _bounds(run[rule]), seen, _bounds(kept[rule]), seen_kept])
    where = pieces(
        words + "where",
        pair=data(trace.pair.name),
        rule=rule_name(trace.settings.rule),
        tested=metrics.tested,
        rounds=metrics.rounds,
        position=position_name(position, index),
    )
    keys = ("rule", "formula", "here", "run", "observed", "per_round", "observed_round")
    rules = acceptance.POSITION_RULES
    return [
        table(
            [t(words + key) for key in keys],
            rows,
            intro=where,
            note=t(words + "note"),
            marked=rules.index(trace.settings.rule) if trace.settings.rule in rules else None,
            tags=[kind_of(rule) for rule in rules],
        )
    ]


def position_name(position: Position, index: int) -> list[Piece]:
    """'12 (draft ‘␣being’)' in pieces: the position's number on screen and what was drafted there."""
    draft = next((c for c in position.candidates if c.id == position.draft_id), None)
    if draft is None:
        return [str(index + 1)]
    label = data(token_label(draft.text, draft.id, draft.bytes))
    return pieces("exact.acceptance.position", number=index + 1, draft=label)


def _bounds(bounds: Bounds) -> str:
    low, high = _number(bounds.low), _number(bounds.high)
    return low if low == high else f"{low}–{high}"


def _number(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}"


def _fraction(value: float) -> str:
    part = Fraction(value).limit_denominator(81)
    return str(part)
