"""The sampling tests of the exactness tab: from checked choices to what the screen shows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from specdec.settings import (
    EXACT_RULES,
    MAX_SEED,
    RULES,
    BadInput,
    Sampling,
    Settings,
    choice,
    is_a,
    shown,
    whole_number,
)
from specdec.trace.record import Position
from specdec.trace.trace import Trace
from visualizations.figures.labels import token_label
from visualizations.figures.sampling_run import SamplingRun
from visualizations.serving.backend import Work
from visualizations.serving.engine_imports import import_engine
from visualizations.serving.inputs import checked_trace
from visualizations.text import Piece, data, pieces, t
from visualizations.why_exact.bars import RAW_DRAFT_TOP_K, Bars
from visualizations.why_exact.sampling_view import sampling_value
from visualizations.why_exact.tables import position_name, rule_name

if TYPE_CHECKING:
    from torch import Tensor

    from specdec.exactness.sampling_test import SamplingTest
    from specdec.models.pairs import Pair

SIZES = (1_000, 10_000, 100_000)
LOOP_ROUNDS = 2_000
SHOWN_CELLS = 10
DRAWS_AS_TOKENS = 16  # about so many tokens take as long as a test


@dataclass(frozen=True)
class Request:
    """Checked choices of a test."""

    rule: str
    n: int
    seed: int

    @classmethod
    def checked(cls, rule: Any, n: Any, seed: Any) -> Request:
        """From untrusted values; raises `BadInput`."""
        if not is_a(n, int, float) or is_a(n, bool) or n not in SIZES:
            raise BadInput(t("exact.bad.n", sizes=", ".join(f"{size:,}" for size in SIZES), value=shown(n)))
        return cls(choice("rule", rule, RULES), int(n), whole_number("seed", seed, 0, MAX_SEED))


def draw_from_bars(bars: Bars, request: Request) -> dict[str, Any]:
    """Draw from two small tables with the rule's own functions, all at once."""
    import_engine()
    from specdec.exactness.sampling_test import sampling_test

    p, q = _tensors(bars)
    settings = Settings(rule=request.rule, seed=request.seed)
    drafted, reported = _draft_law(q, request.rule)
    test = sampling_test(p, drafted, settings, request.n, reported=reported)
    source = t("exact.sampling.source_bars", n=f"{request.n:,}")
    return _shown_test(test, settings, drafted, reported, bars.names, "bars", [source, *_remarks(bars, request)])


def draw_with_loop(bars: Bars, request: Request, stop: threading.Event) -> dict[str, Any] | None:
    """Run the decoding loop itself on the two tables; None when `stop` was set before it was done."""
    import_engine()
    from specdec.exactness.loop_test import loop_test
    from specdec.models.cancelling import Cancelled, cancelled_by

    p, q = _tensors(bars)
    settings = Settings(rule=request.rule, seed=request.seed, gamma=2)
    drafted, reported = _draft_law(q, request.rule)
    try:
        test = loop_test(p, q, settings, LOOP_ROUNDS, drafted=_draft_sampling(request.rule), check=cancelled_by(stop))
    except Cancelled:
        return None
    source = t("exact.sampling.source_loop", n=f"{LOOP_ROUNDS:,}")
    return _shown_test(test, settings, drafted, reported, bars.names, "loop", [source, *_remarks(bars, request)])


@dataclass(frozen=True)
class DrawFromPair(Work[Iterator[dict[str, Any]]]):
    """A test at a position of a run."""

    trace: Trace
    index: int
    request: Request

    def __call__(self, pair: Pair) -> Iterator[dict[str, Any]]:
        return draw_from_pair(pair, self.trace, self.index, self.request)

    def checked(self) -> DrawFromPair:
        request = Request.checked(self.request.rule, self.request.n, self.request.seed)
        index = whole_number("position", self.index, 0, len(self.trace.positions) - 1)
        return DrawFromPair(checked_trace(self.trace), index, request)

    @property
    def tokens(self) -> int:
        return DRAWS_AS_TOKENS


def draw_from_pair(pair: Pair, trace: Trace, index: int, request: Request) -> Iterator[dict[str, Any]]:
    """Draw at position `index` of `trace`: one pass of each model gives both whole laws."""
    import_engine()
    import torch

    from specdec.exactness.sampling_test import sampling_test

    settings = trace.settings.changed(rule=request.rule, seed=request.seed)
    context = context_of(trace, index)
    _refuse_foreign(pair, context)
    p = _law_after(pair.target, context, settings.target_sampling)
    position = trace.positions[index]
    if trace.settings.drafter == "prompt_lookup" or position.drafted_by == "copy":
        q = torch.nn.functional.one_hot(torch.tensor(position.draft_id or 0), len(p)).float()
        reported = None
    else:
        q, reported = _draft_law(_law_after(pair.draft, context, trace.settings.draft_sampling), request.rule)
    began = perf_counter()
    test = sampling_test(p, q, settings, request.n, reported=reported, check=pair.check)
    seconds = perf_counter() - began
    order = p.topk(min(SHOWN_CELLS, int((p > 0).sum()))).indices
    names = [token_label(token.text, token.id, token.bytes) for token in map(pair.texts.alone, order.tolist())]
    source = pieces(
        "exact.sampling.source_real",
        n=f"{request.n:,}",
        position=position_name(trace.positions[index], index),
        vocab=f"{len(p):,}",
        target=data(pair.info.target),
        draft=data(pair.info.draft) if pair.info.draft else t("run_view.settings.prompt_lookup"),
        seconds=f"{seconds:.1f}",
    )
    remarks = [_recorded_remark(pair, trace.positions[index], p, q if reported is None else reported)]
    remarks += _rule_remarks(request.rule)
    yield _shown_test(test, settings, q, reported, names, "real", [source, *remarks], order)


def _recorded_remark(pair: Pair, position: Position, p: Tensor, q: Tensor) -> str:
    """Another kind of number, device or version of the models gives other laws than were recorded."""
    from specdec.decoding.probabilities import overlap

    return t(
        "exact.sampling.recorded",
        recorded=f"{position.overlap or 0:.3f}",
        now=f"{float(overlap(p, q)):.3f}",
        dtype=pair.dtype,
        device=pair.target.device,
    )


def context_of(trace: Trace, index: int) -> list[int]:
    """The ids that stood before position `index` when it was drafted and scored."""
    emitted = 0
    for round_ in trace.rounds:
        if index < len(round_.positions):
            drafts = [position.draft_id for position in round_.positions[:index]]
            return [*trace.prompt.ids, *trace.output.ids[:emitted], *(d for d in drafts if d is not None)]
        index -= len(round_.positions)
        emitted += round_.emitted
    raise IndexError(index)


def checked_position(trace: Trace, index: Any) -> int:
    """A position of the trace at which something was drafted; raises `BadInput`."""
    last = len(trace.positions) - 1
    place = position_index(trace, index)
    if last < 0 or trace.positions[place].overlap is None:
        raise BadInput(t("exact.bad.no_draft"))
    return place


def position_index(trace: Trace, index: Any) -> int:
    """A position of the trace; the last one for an index behind it, since a run may have been replaced."""
    last = len(trace.positions) - 1
    return min(whole_number("position", index, 0, 1_000_000), max(0, last))


def _law_after(model: Any, context: list[int], sampling: Sampling) -> Tensor:
    import torch

    from specdec.decoding.probabilities import lawless, probabilities

    ids = torch.tensor(context, device=model.device)
    model.rewind(0)
    if len(ids) > 1:
        model.prefill(ids[:-1])
    law = probabilities(model.extend(ids[-1:])[-1], sampling).cpu()
    model.rewind(0)
    if lawless(law):
        raise BadInput(t("exact.bad.lawless", name=model.name))
    return law


def _refuse_foreign(pair: Pair, context: list[int]) -> None:
    """An uploaded trace may hold any ids."""
    if not context or min(context) < 0 or max(context) >= pair.target.vocab_size:
        raise BadInput(t("exact.bad.ids", limit=pair.target.vocab_size - 1))
    limit = min(model.max_length for model in (pair.target, pair.draft) if model is not None)
    if len(context) > limit:
        raise BadInput(t("exact.bad.long", count=len(context), limit=limit))


def _tensors(bars: Bars) -> tuple[Tensor, Tensor]:
    import torch

    return torch.tensor(bars.p_big, dtype=torch.float64), torch.tensor(bars.p_small, dtype=torch.float64)


def _draft_law(q: Tensor, rule: str) -> tuple[Tensor, Tensor | None]:
    """The law drafted from, and the one told to the rule where that is another."""
    drafted = {"raw_draft": RAW_DRAFT_TOP_K, "argmax_draft": 1}.get(rule)
    return (q, None) if drafted is None else (_top_k(q, drafted), q)


def _draft_sampling(rule: str) -> Sampling:
    """How the decoding loop comes to the first of these laws."""
    return {"raw_draft": Sampling(top_k=RAW_DRAFT_TOP_K), "argmax_draft": Sampling(0.0)}.get(rule, Sampling())


def _top_k(q: Tensor, k: int) -> Tensor:
    """The law of the k likeliest, the lower id first among equal ones, as the decoding loop has it."""
    kept = q.clone()
    kept[q.sort(descending=True, stable=True).indices[k:]] = 0
    return kept / kept.sum()


def _remarks(bars: Bars, request: Request) -> list[str]:
    return [t("exact.sampling.source_other")] * bars.coarse + _rule_remarks(request.rule)


def _rule_remarks(rule: str) -> list[str]:
    return [t("exact.sampling.source_raw", k=RAW_DRAFT_TOP_K)] if rule == "raw_draft" else []


def _shown_test(
    test: SamplingTest,
    settings: Settings,
    drafted: Tensor,
    reported: Tensor | None,
    names: Any,
    source: str,
    remarks: list[str | list[Piece]],
    order: Tensor | None = None,
) -> dict[str, Any]:
    """order: which ids get a bar, when not all do; the others are one bar more."""
    from specdec.exactness.laws import closed_form, total_variation

    law, acceptance = closed_form(settings, test.law, drafted, reported)
    limit = total_variation(law, test.law)
    run = _run_of(test, names, limit, order)
    kind = t("exact.playground.exact" if settings.rule in EXACT_RULES else "exact.playground.biased")
    verdict = t("exact.sampling.passed" if test.chi_square.passed else "exact.sampling.failed")
    headline = t("exact.sampling.headline", verdict=verdict, rule=rule_name(settings.rule), kind=kind)
    return sampling_value(run, source, headline, [*remarks, *_report(test, acceptance, limit)])


def _report(test: SamplingTest, acceptance: float, limit: float) -> list[str]:
    from specdec.exactness.sampling_test import FALSE_ALARM_RATE

    chi, words = test.chi_square, "exact.sampling."
    p_value = f"{chi.p_value:.3f}" if chi.p_value >= 0.001 else f"{chi.p_value:.1e}" if chi.p_value > 0 else t(words + "tiny")
    lines = [t(words + "chi", statistic=f"{chi.statistic:,.1f}", freedom=chi.degrees_of_freedom, n=f"{chi.n:,}", p_value=p_value)]
    if chi.impossible:
        lines.append(t(words + "impossible", count=f"{chi.impossible:,}"))
    if chi.degrees_of_freedom:
        rate = f"{round(1 / FALSE_ALARM_RATE):,}"
        w = chi.detectable
        lines.append(t(words + "alarm", rate=rate, n=f"{chi.n:,}", w=f"{w:.3f}", tv=f"{w / 2:.3f}"))
    else:
        lines.append(t(words + "blind"))
    lines.append(t(words + "accepted", observed=f"{test.acceptance:.1%}", expected=f"{acceptance:.1%}"))
    return [*lines, t(words + "law", tv=f"{limit:.4f}")]


def _run_of(test: SamplingTest, names: Any, limit: float, order: Tensor | None) -> SamplingRun:
    import torch

    cells = torch.arange(len(test.law)) if order is None else order
    rest = order is not None and len(order) < len(test.law)

    def with_rest(masses: Tensor) -> tuple[float, ...]:
        some = masses[cells].tolist()
        return tuple([*some, max(0.0, 1 - sum(some))] if rest else some)

    frequencies = [torch.bincount(test.ids[:n], minlength=len(test.law)).double() / n for n in test.checkpoints]
    return SamplingRun(
        labels=(*names, t("figures.other")) if rest else tuple(names),
        law=with_rest(test.law.double()),
        checkpoints=test.checkpoints,
        frequencies=tuple(map(with_rest, frequencies)),
        distances=test.distances,
        expected=test.expected_distances,
        limit=limit,
        passed=test.chi_square.passed,
    )
