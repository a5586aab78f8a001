"""What the records of measurements say, in words: verdicts, numbers with definitions, tables. Pure functions."""

from __future__ import annotations

from specdec.models.catalogue import CATALOGUE
from specdec.timing.beside import BUSY_CORES
from specdec.timing.comparison import Comparison, Prediction, Ratio, Result, Verdict, Way
from specdec.timing.records import RunTiming, Spread
from visualizations.components.report.component import fact, report_value, table
from visualizations.step_through.run_view.rounding import rounding_apart
from visualizations.text import data, t

NONE = "–"


def comparison_report(comparison: Comparison, way: int) -> dict:
    """The verdict on a way against plain decoding, its numbers, the table of all ways, that of all prompts."""
    result = comparison.result(way, comparison.way("plain"))
    if result is None:
        return report_value(t("faster.verdict.no_run"))
    return report_value(
        verdict_text(result.verdict, result.speedup),
        result.verdict.key,
        _facts(comparison, way, result),
        [_ways_table(comparison), _results_table(comparison), _prompts_table(comparison)],
        _note(comparison),
    )


def verdict_text(verdict: Verdict, ratio: Ratio | None) -> str:
    """The answer in a sentence, with the numbers it rests on."""
    from specdec.timing.statistics import MIN_PAIRS  # here, because it costs scipy: the page opens without

    if verdict.key == "nothing_drafted":
        return t("faster.verdict.nothing_drafted")
    if ratio is None or verdict.low is None or verdict.high is None or ratio.n < MIN_PAIRS:
        return t("faster.verdict.too_few", n=ratio.n if ratio else 0, least=MIN_PAIRS)
    numbers = {
        "speedup": f"{ratio.pooled:.2f}",
        "low": f"{verdict.low:.2f}",
        "high": f"{verdict.high:.2f}",
        "n": ratio.n,
    }
    answer = t(f"faster.verdict.{verdict.key}", **numbers)
    if verdict.other_work is not None and verdict.other_work >= BUSY_CORES:
        return f"{answer} {t('faster.verdict.busy', cores=f'{verdict.other_work:.1f}')}"
    if verdict.key != "slower" or verdict.because is None:
        return answer
    why = {
        "c": _number(verdict.cost_ratio, 2),
        "v": _number(verdict.verify_ratio, 2),
        "alpha": _number(verdict.alpha, 2),
        "per_round": _number(verdict.tokens_per_round, 2),
        "break_even": _number(verdict.break_even, 2),
    }
    return f"{answer} {t(f'faster.verdict.because.{verdict.because}', **why)}"


def formula_report(comparison: Comparison, way: int) -> dict:
    """The seed formula with today's numbers, each term beside what was measured."""
    base = comparison.way("plain")
    result, plain, fast = comparison.result(way, base), comparison.row(base), comparison.row(way)
    if result is None or result.prediction is None or plain is None or fast is None:
        return report_value(note=t("faster.time.no_formula"))
    p = result.prediction
    measured = {"sd": _per_round(fast.timing, 1.0), "ori": _per_round(plain.timing, p.tokens_per_round)}
    facts = [
        fact(
            t("faster.time.t_sd"),
            t("faster.time.t_sd_value", **_terms(p)),
            t("faster.time.t_sd_is", measured=_ms(measured["sd"]), share=_ratio(measured["sd"], p.with_drafts)),
        ),
        fact(
            t("faster.time.t_ori"),
            t("faster.time.t_ori_value", **_terms(p)),
            t("faster.time.t_ori_is", measured=_ms(measured["ori"]), share=_ratio(measured["ori"], p.plain)),
        ),
    ]
    if result.speedup:
        value = t(
            "faster.time.quotient_value",
            predicted=f"{p.speedup:.2f}",
            measured=f"{result.speedup.pooled:.2f}",
            share=_number(result.measured_over_predicted, 2),
        )
        facts.append(fact(t("faster.time.quotient"), value, t("faster.time.quotient_is")))
    return report_value(facts=facts)


def _facts(comparison: Comparison, way: int, result: Result) -> list[dict]:
    row, p, ratio = comparison.row(way), result.prediction, result.speedup
    drafted = row.timing.drafted_per_round if row else None
    values = {
        "speedup": f"{ratio.pooled:.2f}×" if ratio else NONE,
        "predicted": f"{p.speedup:.2f}×" if p else NONE,
        "measured_over_predicted": _number(result.measured_over_predicted, 2),
        "alpha": _number(row.acceptance_rate if row else None, 2),
        "tokens_per_round": _number(row.tokens_per_round if row else None, 2),
        "drafted": _number(drafted, 2),
        "c": _number(p.cost_ratio if p else None, 3),
        "v": _number(p.verify_ratio if p else None, 2),
        "loop": _percent(row.loop_share if row else None),
    }
    meanings = {name: t(f"faster.fact.{name}_is") for name in values}
    if row and row.acceptance_rate is not None and row.acceptance_rate < 1 and _rounds_apart(comparison, way):
        meanings["alpha"] += " " + t("faster.fact.alpha_rounded", dtype=comparison.dtype)
    return [fact(t(f"faster.fact.{name}"), value, meanings[name]) for name, value in values.items()]


def _rounds_apart(comparison: Comparison, way: int) -> bool:
    spec = CATALOGUE.get(comparison.pair)
    settings = comparison.ways[way].settings
    return spec is not None and rounding_apart(spec.target, spec.draft, comparison.dtype, settings) is not None


def _ways_table(comparison: Comparison) -> dict:
    from specdec.timing.statistics import spread

    head = ["way", "median", "pooled", "end_to_end", "per_round", "alpha", "loop", "n"]
    rows = []
    for index, way in enumerate(comparison.ways):
        row = comparison.row(index)
        if row is None:
            continue
        rates = [s.timing.decode_rate for s in comparison.samples if s.way == index and s.timing.decode_rate]
        rows.append([
            way_name(way),
            _spread(spread(rates)) if rates else NONE,
            _number(row.decode_rate, 1),
            _number(row.end_to_end_rate, 1),
            _number(row.tokens_per_round, 2),
            _number(row.acceptance_rate, 2),
            _percent(row.loop_share),
            str(row.runs),
        ])  # fmt: skip
    return table(t("faster.table.ways"), [t(f"faster.table.{name}") for name in head], rows)


def _results_table(comparison: Comparison) -> dict:
    head = ["pair", "speedup", "interval", "pairs_median", "n", "predicted", "share", "verdict"]
    rows = []
    for result in comparison.results:
        ratio, p = result.speedup, result.prediction
        name = t(
            "faster.table.against", way=way_name(comparison.ways[result.way]), other=way_name(comparison.ways[result.baseline])
        )
        if ratio is None:
            continue
        interval = NONE if ratio.low is None or ratio.high is None else f"{ratio.low:.2f} – {ratio.high:.2f}"
        rows.append([
            name,
            f"{ratio.pooled:.2f}×",
            interval,
            f"{ratio.median:.2f} [{ratio.q1:.2f}, {ratio.q3:.2f}]",
            str(ratio.n),
            f"{p.speedup:.2f}×" if p else NONE,
            _number(result.measured_over_predicted, 2),
            t(f"faster.table.{result.verdict.key}"),
        ])  # fmt: skip
    return table(t("faster.table.results"), [t(f"faster.table.{key}") for key in head], rows)


def _prompts_table(comparison: Comparison) -> dict:
    head = [t("faster.table.prompt"), t("faster.table.prompt_tokens"), *(way_name(way) for way in comparison.ways)]
    rows = []
    for index, prompt in enumerate(comparison.prompts):
        cells = [comparison.row(way, index) for way in range(len(comparison.ways))]
        text = " ".join(prompt.text.split())
        rows.append([data(text), str(prompt.tokens), *(_number(row.decode_rate if row else None, 1) for row in cells)])
    return table(t("faster.table.prompts"), head, rows, folded=True)


def _note(comparison: Comparison) -> str:
    settings = comparison.ways[-1].settings
    said = [
        t(
            "faster.table.note",
            prompts=len(comparison.prompts),
            repeats=comparison.repeats,
            done=comparison.done,
            total=comparison.total,
            warm_up=comparison.warm_up,
            temperature=f"{settings.temperature:g}",
            tokens=settings.max_new_tokens,
            rule=t(f"app.rule.{settings.rule}"),
            drafter=t(f"app.drafter.{settings.drafter}"),
        )
    ]
    if any(way.engine == "transformers" for way in comparison.ways):
        said.append(t("faster.table.transformers_note"))
    if comparison.repeatable is False:
        said.append(t("faster.table.not_repeatable"))
    return " ".join(said)


def way_name(way: Way) -> str:
    """'speculative, γ = 4', 'transformers generate(), plain', ..."""
    kind = "speculative" if way.settings.gamma else "plain"
    return t(f"faster.table.{way.engine}_{kind}", gamma=way.settings.gamma)


def _terms(p: Prediction) -> dict[str, str]:
    return {
        "n": f"{p.steps_per_round:.2f}",
        "small": f"{1e3 * p.t_small:.2f}",
        "big": f"{1e3 * p.t_big:.1f}",
        "verify": f"{1e3 * p.t_big_verify:.1f}",
        "tokens": f"{p.tokens_per_round:.2f}",
        "with_drafts": f"{1e3 * p.with_drafts:.1f}",
        "plain": f"{1e3 * p.plain:.1f}",
    }


def _per_round(run: RunTiming, tokens: float) -> float | None:
    """Seconds a round, times `tokens` (plain decoding has a token a round)."""
    return tokens * run.decode_seconds / run.rounds if run.rounds else None


def _ms(seconds: float | None) -> str:
    return NONE if seconds is None else f"{1e3 * seconds:.1f}"


def _ratio(measured: float | None, predicted: float) -> str:
    return NONE if measured is None else f"{measured / predicted:.2f}"


def _number(value: float | None, digits: int) -> str:
    return NONE if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f} %"


def _spread(values: Spread) -> str:
    return f"{values.median:.1f} [{values.q1:.1f}, {values.q3:.1f}]"
