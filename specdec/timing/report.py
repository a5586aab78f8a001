"""Records as lines of text: every number with its hardware, number format, n and spread."""

from __future__ import annotations

from collections.abc import Sequence

from specdec.timing.beside import BUSY_CORES
from specdec.timing.comparison import Comparison, Ratio, Result, Sweep, Verdict
from specdec.timing.lengths import PLAIN, best_fixed, best_way, gain
from specdec.timing.overhead import Overhead
from specdec.timing.records import Costs, Hardware, RunTiming, Spread
from specdec.timing.roofline import Roofline
from specdec.timing.sharing import Sharing


def machine_line(hardware: Hardware, pair: str, dtype: str) -> str:
    """The line every table starts with."""
    return (
        f"{pair} in {dtype} on {hardware.name} ({hardware.device}, {hardware.cores} cores, {hardware.threads} threads), "
        f"torch {hardware.torch}, transformers {hardware.transformers}, Python {hardware.python}"
    )


def comparison_text(comparison: Comparison) -> str:
    """Rates of each way, then speedups with interval, prediction and verdict, then each prompt."""
    first = comparison.ways[0].settings
    plan = f"{len(comparison.prompts)} prompts x {comparison.repeats} repeats x {len(comparison.ways)} ways"
    runs = f"{comparison.done} of {comparison.total} runs: {plan}"
    lines = [
        machine_line(comparison.hardware, comparison.pair, comparison.dtype),
        f"temperature {first.temperature:g}, top-k {first.top_k}, top-p {first.top_p:g}, rule {first.rule}, drafter "
        f"{first.drafter}, up to {first.max_new_tokens} tokens; {runs}; {comparison.warm_up} runs of warm-up left out",
        "",
        *_table(
            ["way", "tok/s decode", "tok/s with prefill", "tokens/round", "alpha", "draft s", "target s", "loop", "runs"],
            [_way_cells(comparison, index) for index in range(len(comparison.ways))],
        ),
        "",
        *_table(
            ["speedup", "pooled", "95 % interval", "median [quartiles]", "n", "predicted", "measured/predicted", "verdict"],
            [_result_cells(comparison, result) for result in comparison.results],
        ),
    ]
    if comparison.repeatable is False:
        lines += ["", "WARNING: at temperature 0 the repeats of a run gave different counts."]
    lines += _busy_lines(comparison)
    lines += ["", *_table(["prompt", "tokens", *(f"{way.key} tok/s" for way in comparison.ways)], _prompt_cells(comparison))]
    lines += ["", "decode: without prefill. pooled: all tokens / all seconds, not a mean of means. alpha: accepted / tested."]
    if any(way.engine == "transformers" for way in comparison.ways):
        lines.append("transformers: the first step reads the prompt, so decoding is counted after it.")
    if comparison.costs:
        lines += ["", costs_text(comparison.costs, head=False)]
    return "\n".join(lines)


def sweep_text(sweep: Sweep) -> str:
    """Measured against predicted speedup for each draft length, and the best of them."""
    curve = {point.gamma: point.speedup for point in sweep.curve}
    rows = [
        [
            str(point.gamma),
            *_ratio_cells(point.result.speedup),
            _number(curve.get(point.gamma), ".3f"),
            _number(point.alpha, ".3f"),
            _number(point.tokens_per_round, ".3f"),
        ]
        for point in sweep.points
    ]
    best = max(curve, key=curve.__getitem__, default=None)
    return "\n".join([
        *_table(["gamma", "speedup", "95 % interval", "median [quartiles]", "n", "curve", "alpha", "tokens/round"], rows),
        f"best gamma: measured {sweep.best_gamma}, on the curve {best} (one alpha = {_number(sweep.alpha, '.3f')} for all places)",
    ])  # fmt: skip


def lengths_text(comparison: Comparison) -> str:
    """Each way of drafting against plain decoding, and the fastest against the fastest fixed length of the model."""
    first = comparison.ways[0].settings
    plain = comparison.way(PLAIN)
    drafting = [index for index in range(len(comparison.ways)) if index != plain]
    lines = [
        machine_line(comparison.hardware, comparison.pair, comparison.dtype),
        f"temperature {first.temperature:g}, rule {first.rule}, up to {first.max_new_tokens} tokens; {comparison.done} of "
        f"{comparison.total} runs: {len(comparison.prompts)} prompts x {comparison.repeats} repeats; c = "
        f"{first.draft_cost:.3f}, each further token of a target pass {first.token_cost:.3f}",
        "",
        *_table(
            ["way", "tokens/round", "drafts/round", "steps/round", "alpha", "speedup", "95 % interval", "predicted"],
            [_drafting_cells(comparison, index, plain) for index in drafting],
        ),
    ]
    best, fixed = best_way(comparison), best_fixed(comparison)
    over = gain(comparison, best, fixed) if best is not None and fixed is not None else None
    if over:
        names = f"{comparison.ways[best].key} / {comparison.ways[fixed].key}"
        lines += ["", "fastest of all / fastest fixed length of the model: " + ", ".join([names, *_ratio_cells(over)[:2]])]
    return "\n".join([*lines, *_busy_lines(comparison)])


def _drafting_cells(comparison: Comparison, index: int, plain: int) -> list[str]:
    row, result = comparison.row(index), comparison.result(index, plain)
    if row is None or result is None:
        return [comparison.ways[index].key] + ["-"] * 7
    counts = (row.tokens_per_round, row.timing.drafted_per_round, row.timing.steps_per_round, row.acceptance_rate)
    predicted = result.prediction.speedup if result.prediction else None
    return [
        comparison.ways[index].key,
        *(_number(count, ".3f") for count in counts),
        *_ratio_cells(result.speedup)[:2],
        _number(predicted, ".3f"),
    ]


def costs_text(costs: Costs, *, head: bool = True) -> str:
    """t_draft, t_target(n) with v and tokens/s, prefill."""
    draft = _milliseconds(costs.draft_step) if costs.draft_step else "none"
    lines = [machine_line(costs.hardware, costs.pair, costs.dtype)] if head else []
    lines.append(
        f"t_draft {draft} a step (mean of {costs.steps} in a row), c = {costs.cost_ratio:.3f}; {costs.context} tokens in the cache"
    )
    lines += _table(
        ["t_target(n)", "ms [quartiles] (n)", "v", "tok/s"],
        [
            [
                str(cost.tokens),
                _milliseconds(cost.seconds),
                f"{cost.seconds.median / costs.target_seconds(1):.3f}",
                f"{cost.tokens / cost.seconds.median:.1f}",
            ]
            for cost in costs.target
        ],
    )
    if costs.prefill:
        lines += ["", *_table(["prefill", "ms [quartiles] (n)", "tok/s"], [
            [str(cost.tokens), _milliseconds(cost.seconds), f"{cost.tokens / cost.seconds.median:.1f}"] for cost in costs.prefill
        ])]  # fmt: skip
    return "\n".join(lines)


def roofline_text(roofline: Roofline) -> str:
    """Ceilings, then achieved rates of each pass and which ceiling is over it."""
    top = roofline.ceilings
    return "\n".join([
        machine_line(roofline.hardware, roofline.pair, roofline.dtype),
        f"ceilings: copy {top.copy_rate / 1e9:.1f} GB/s, weights x vector {top.matvec_rate / 1e9:.1f} GB/s, "
        f"matrix product {top.flop_rate / 1e9:.1f} GFLOP/s; they meet at {top.ridge:.1f} FLOP/byte",
        *_table(
            ["pass", "tokens", "ms [quartiles] (n)", "FLOP/byte", "GB/s", "GFLOP/s", "tok/s", "bound by"],
            [
                [
                    point.kind,
                    str(point.tokens),
                    _milliseconds(point.seconds),
                    f"{point.intensity:.2f}",
                    f"{point.byte_rate / 1e9:.2f}",
                    f"{point.flop_rate / 1e9:.2f}",
                    f"{point.tokens_per_second:.1f}",
                    roofline.bound(point),
                ]
                for point in roofline.points
            ],
        ),
    ])  # fmt: skip


def overhead_text(overhead: Overhead) -> str:
    """What is no model pass, and what recording adds."""
    settings = overhead.settings
    return "\n".join([
        machine_line(overhead.hardware, overhead.pair, overhead.dtype),
        f"temperature {settings.temperature:g}, gamma {settings.gamma}, rule {settings.rule}, up to {settings.max_new_tokens} tokens",
        *_table(
            ["share of decode time", "pooled", "median [quartiles] (n)"],
            [
                ["loop, plain", _percent(overhead.plain.loop_share), _percents(overhead.plain_shares)],
                ["loop, speculative", _percent(overhead.speculative.loop_share), _percents(overhead.speculative_shares)],
                ["recording a run", "", _percents(overhead.recording_share)],
                ["a trace after each round", "", _percents(overhead.snapshot_share)],
            ],
        ),
        _split_line("plain", overhead.plain),
        _split_line("speculative", overhead.speculative),
    ])  # fmt: skip


def sharing_text(sharing: Sharing) -> str:
    """What passes over several runs' rows take, and what so many runs write at once."""
    alone = {(one.model, one.tokens): one.seconds.median for one in sharing.passes if one.rows == 1}
    first = sharing.at_once[0].rate.median
    return "\n".join([
        machine_line(sharing.hardware, sharing.pair, sharing.dtype),
        f"one pass for several texts, {sharing.context} tokens in each cache; times: what as many passes alone would take",
        *_table(
            ["model", "rows", "tokens each", "ms median [quartiles] (n)", "times"],
            [
                [
                    one.model,
                    str(one.rows),
                    str(one.tokens),
                    _milliseconds(one.seconds),
                    f"{one.rows * alone[one.model, one.tokens] / one.seconds.median:.2f}",
                ]
                for one in sharing.passes
            ],
        ),
        "",
        f"runs at once, up to {sharing.settings.max_new_tokens} tokens each, gamma {sharing.settings.gamma}, recorded",
        *_table(
            ["runs", "tokens/s of all", "of each", "times one run", "rows in a target pass"],
            [
                [
                    str(one.runs),
                    f"{one.rate.median:.2f}",
                    f"{one.rate.median / one.runs:.2f}",
                    f"{one.rate.median / first:.2f}",
                    f"{one.sharing:.1f}",
                ]
                for one in sharing.at_once
            ],
        ),
    ])  # fmt: skip


def _busy_lines(comparison: Comparison) -> list[str]:
    works = [result.verdict.other_work for result in comparison.results if result.verdict.other_work is not None]
    if not works or max(works) < BUSY_CORES:
        return []
    cores = comparison.hardware.cores
    return ["", f"BUSY: other programs took {max(works):.1f} of {cores} cores meanwhile; measure again on a quiet machine."]


def verdict_text(verdict: Verdict) -> str:
    """One sentence."""
    if verdict.key == "nothing_drafted":
        return "no draft was tested: nothing was measured about drafting"
    if verdict.key == "too_noisy" or verdict.speedup is None:
        return "too noisy to tell"
    if verdict.key == "faster":
        return "faster"
    reasons = {
        "busy": f"slower: other programs took {verdict.other_work or 0:.1f} cores meanwhile",
        "cost_ratio": f"slower: drafting costs too much, c = {verdict.cost_ratio or 0:.2f}",
        "verify_ratio": f"slower: verifying costs too much, v = {verdict.verify_ratio or 0:.2f}",
        "loop": "slower: the models alone would be faster, the loop is not",
    }
    return reasons.get(verdict.because or "", "slower")


def _way_cells(comparison: Comparison, index: int) -> list[str]:
    row, name = comparison.row(index), comparison.ways[index].key
    if row is None:
        return [name] + ["-"] * 8
    run = row.timing
    numbers = [
        (row.decode_rate, ".2f"), (row.end_to_end_rate, ".2f"), (row.tokens_per_round, ".3f"), (row.acceptance_rate, ".3f"),
        (run.draft_seconds, ".2f"), (run.target_seconds, ".2f"),
    ]  # fmt: skip
    return [name, *(_number(*number) for number in numbers), _percent(row.loop_share), str(row.runs)]


def _result_cells(comparison: Comparison, result: Result) -> list[str]:
    name = f"{comparison.ways[result.way].key} / {comparison.ways[result.baseline].key}"
    drafting = comparison.ways[result.baseline].settings.gamma == 0 and result.prediction is not None
    predicted = result.prediction.speedup if result.prediction else None
    verdict = verdict_text(result.verdict) if drafting or result.verdict.key != "slower" else "slower"
    return [name, *_ratio_cells(result.speedup), _number(predicted, ".3f"), _number(result.measured_over_predicted, ".3f"), verdict]


def _ratio_cells(ratio: Ratio | None) -> list[str]:
    if ratio is None:
        return ["-"] * 4
    interval = "-" if ratio.low is None or ratio.high is None else f"{ratio.low:.3f} to {ratio.high:.3f}"
    return [f"{ratio.pooled:.3f}", interval, f"{ratio.median:.3f} [{ratio.q1:.3f}, {ratio.q3:.3f}]", str(ratio.n)]


def _prompt_cells(comparison: Comparison) -> list[list[str]]:
    cells = []
    for index, prompt in enumerate(comparison.prompts):
        rows = [comparison.row(way, index) for way in range(len(comparison.ways))]
        text = " ".join(prompt.text.split())[:40]
        cells.append([text, str(prompt.tokens), *(_number(row.decode_rate if row else None, ".2f") for row in rows)])
    return cells


def _split_line(name: str, run: RunTiming) -> str:
    passes = f"target {run.target_seconds:.2f} s in {run.rounds} passes, draft {run.draft_seconds:.2f} s in {run.draft_steps}"
    return f"{name}: {run.decode_seconds:.2f} s = {passes}, loop {run.loop_seconds:.2f} s"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of aligned columns: the first to the left, the others to the right."""
    widths = [max(len(line[column]) for line in [head, *rows]) for column in range(len(head))]
    return [
        "  ".join(cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in enumerate(zip(line, widths)))
        for line in [head, *rows]
    ]


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _percents(values: Spread) -> str:
    return f"{100 * values.median:.1f} % [{100 * values.q1:.1f}, {100 * values.q3:.1f}] ({values.n})"


def _milliseconds(seconds: Spread) -> str:
    return f"{1e3 * seconds.median:.2f} [{1e3 * seconds.q1:.2f}, {1e3 * seconds.q3:.2f}] ({seconds.n})"
