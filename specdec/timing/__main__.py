"""Measure on this machine; prints a table and writes a record."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from specdec.models.catalogue import CATALOGUE, DEFAULT_PAIR
from specdec.models.devices import use_threads
from specdec.models.pairs import Pair, load_models, load_pair
from specdec.settings import DRAFTERS, RULES, BadInput, Settings
from specdec.timing import report
from specdec.timing.beside import beside
from specdec.timing.compare import REPEATS, compare
from specdec.timing.costs import CONTEXT, measure_costs
from specdec.timing.lengths import FIXED, MOST, measure_lengths, rows_of_drafting
from specdec.timing.overhead import measure_overhead
from specdec.timing.prompts import own_prompts, read_prompts
from specdec.timing.records import to_dict, write_json
from specdec.timing.roofline import measure_roofline
from specdec.timing.sharing import RUNS, measure_sharing
from specdec.timing.statistics import sweep_of

R = TypeVar("R")


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and measure; 2 and one sentence for values that can't be used."""
    options = _parser().parse_args(arguments)
    use_threads(options.threads)
    try:
        with beside(options.beside, options.pair):
            options.run(options)
    except BadInput as fault:
        print(fault, file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m specdec.timing", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="{compare,lengths,costs,roofline,overhead,sharing}")

    comparing = commands.add_parser("compare", help="plain against speculative decoding, and transformers' generate()")
    comparing.add_argument("--gamma", type=int, nargs="+", default=[4], help="several: a sweep")
    comparing.add_argument("--temperature", type=float, nargs="+", default=[0.0, 1.0], help="each is a comparison of its own")
    comparing.add_argument("--no-transformers", action="store_true", help="leave generate() out")
    comparing.set_defaults(run=_compare)

    drafting = commands.add_parser("lengths", help="length policies and drafters against fixed lengths")
    drafting.add_argument("--fixed", type=int, nargs="+", default=list(FIXED), help="fixed draft lengths")
    drafting.add_argument("--most", type=int, default=MOST, help="drafts a round at most under every other policy")
    drafting.add_argument("--temperature", type=float, nargs="+", default=[0.0, 1.0], help="each is measured by itself")
    drafting.set_defaults(run=_lengths, drafter="model")

    costing = commands.add_parser("costs", help="t_draft, t_target(n) for n = 1 to 64, prefill")
    costing.set_defaults(run=_costs)

    roofing = commands.add_parser("roofline", help="the device's ceilings, and what passes achieve")
    roofing.set_defaults(run=_roofline)

    over = commands.add_parser("overhead", help="loop share and recording share of decode time")
    over.add_argument("--gamma", type=int, default=4)
    over.add_argument("--temperature", type=float, default=1.0)
    over.set_defaults(run=_overhead)

    sharing = commands.add_parser("sharing", help="passes for several runs, and what 1 to 16 runs write at once")
    sharing.add_argument("--runs", type=int, nargs="+", default=list(RUNS), help="so many at once")
    sharing.add_argument("--gamma", type=int, default=4)
    sharing.add_argument("--temperature", type=float, default=1.0)
    sharing.set_defaults(run=_sharing)

    for command in (costing, roofing, sharing):
        command.add_argument("--context", type=int, default=CONTEXT, help="tokens in the cache")
    for command in (comparing, over, sharing):
        command.add_argument("--drafter", choices=DRAFTERS, default="model")
    for command in (comparing, drafting, over, sharing):
        command.add_argument("--rule", choices=RULES, default="token")
        command.add_argument("--top-k", type=int, default=0)
        command.add_argument("--top-p", type=float, default=1.0)
        command.add_argument("--tokens", type=int, default=64, help="new tokens of a run, at most")
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--raw-text", action="store_true", help="no chat template around the prompts")
        command.add_argument("--prompts", type=Path, help='a prompt a line, or .jsonl with "turns"; default: a few of our own')
        command.add_argument("--max-prompts", type=int, help="so many of them, at equal distances")
    for command in (comparing, drafting, costing, roofing, over, sharing):
        command.add_argument("--pair", choices=tuple(CATALOGUE), default=DEFAULT_PAIR)
        command.add_argument("--target", help="Hub id or folder, in place of --pair")
        command.add_argument("--draft", help="Hub id or folder that drafts for --target")
        command.add_argument("--dtype", default="auto")
        command.add_argument("--device", default="auto")
        command.add_argument("--threads", type=int, help="of torch; default: its own choice, within the cores it may use")
        command.add_argument("--repeats", type=int, default=15 if command in (costing, roofing) else REPEATS)
        command.add_argument("--beside", type=int, default=0, help="so many other processes decode meanwhile")
        command.add_argument("--json", type=Path, help="write the record here")
    return parser


def _compare(options: argparse.Namespace) -> None:
    pair, prompts, records = _pair(options), _prompts(options), []
    for temperature in options.temperature:
        settings = _settings(options, temperature=temperature, gamma=max(options.gamma))
        both = not options.no_transformers and options.drafter == "model" and options.rule == "token"
        grown = compare(pair, prompts, settings, repeats=options.repeats, gammas=options.gamma, with_transformers=both)
        records.append(_last(grown, f"temperature {temperature:g}"))
        print(report.comparison_text(records[-1]), end="\n\n", flush=True)
        if len(options.gamma) > 1:
            print(report.sweep_text(sweep_of(records[-1], max(options.gamma))), end="\n\n", flush=True)
    _write(options, {"comparisons": [to_dict(record) for record in records]})


def _lengths(options: argparse.Namespace) -> None:
    pair, prompts, rows = _pair(options), _prompts(options), []
    for temperature in options.temperature:
        settings = _settings(options, temperature=temperature)
        grown = measure_lengths(pair, prompts, settings, fixed=options.fixed, most=options.most, repeats=options.repeats)
        record = _last(grown, f"temperature {temperature:g}")
        print(report.lengths_text(record), end="\n\n", flush=True)
        rows += rows_of_drafting(record)
        _write(options, [asdict(row) for row in rows])


def _costs(options: argparse.Namespace) -> None:
    _measure(options, measure_costs(_pair(options), repeats=options.repeats, context=options.context), report.costs_text)


def _roofline(options: argparse.Namespace) -> None:
    grown = measure_roofline(_pair(options), repeats=options.repeats, context=options.context)
    _measure(options, grown, report.roofline_text)


def _overhead(options: argparse.Namespace) -> None:
    settings = _settings(options, temperature=options.temperature, gamma=options.gamma)
    grown = measure_overhead(_pair(options), _prompts(options), settings, repeats=options.repeats)
    _measure(options, grown, report.overhead_text)


def _sharing(options: argparse.Namespace) -> None:
    settings = _settings(options, temperature=options.temperature, gamma=options.gamma)
    if min(options.runs) < 1:
        raise BadInput("runs must be at least 1.")
    grown = measure_sharing(
        _pair(options), _prompts(options), settings, context=options.context, runs=options.runs, repeats=options.repeats
    )
    _measure(options, grown, report.sharing_text)


def _measure(options: argparse.Namespace, grown: Iterator[R], text: Callable[[R], str]) -> None:
    record = _last(grown, options.pair)
    print(text(record), flush=True)
    _write(options, to_dict(record))


def _last(grown: Iterator[R], name: str) -> R:
    """The last record; Ctrl-C keeps the one reached so far."""
    record = None
    try:
        for record in grown:
            print(f"\r{name}: {record.done} of {record.total}", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        if record is None:
            raise
    print(file=sys.stderr)
    if record is None:
        raise BadInput("repeats must be at least 1.")
    return record


def _pair(options: argparse.Namespace) -> Pair:
    if options.target:
        return load_models(options.target, options.draft, dtype=options.dtype, device=options.device)
    return load_pair(options.pair, dtype=options.dtype, device=options.device)


def _settings(options: argparse.Namespace, **values: Any) -> Settings:
    return Settings.checked(
        rule=options.rule,
        drafter=options.drafter,
        top_k=options.top_k,
        top_p=options.top_p,
        max_new_tokens=options.tokens,
        seed=options.seed,
        chat=not options.raw_text,
        **values,
    )


def _prompts(options: argparse.Namespace) -> list[str]:
    return read_prompts(options.prompts, options.max_prompts) if options.prompts else own_prompts()[: options.max_prompts]


def _write(options: argparse.Namespace, record: Any) -> None:
    if options.json:
        write_json(options.json, record)


if __name__ == "__main__":
    sys.exit(main())
