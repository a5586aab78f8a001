"""The command `python -m visualizations.load_test [--visitors 50] [--tokens 64] [--waves 3] [--within 5] [--closing 0.3] [--url URL] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx

from visualizations.load_test.course import NotMeasured, Plan, measure
from visualizations.load_test.page import OtherPage
from visualizations.load_test.report import Report
from visualizations.load_test.server import Server, loopback
from visualizations.step_through.speed import launched_app


def main(arguments: Sequence[str]) -> int:
    """Measure and print. Returns 1 when anything was refused, lost or mixed, else 0."""
    asked = _parser().parse_args(arguments)
    plan = Plan(asked.visitors, asked.tokens, asked.waves, asked.within, asked.closing, asked.alone, asked.patience)
    with _address(asked.url) as url:
        try:
            report = Report(anyio.run(measure, Server(url), plan, _tell))
        except (NotMeasured, OtherPage, httpx.HTTPError) as fault:
            _tell(f"nothing was measured: {fault}")
            return 1
    print(report.table())
    print(report.line())
    if asked.json:
        asked.json.write_text(json.dumps(report.to_dict(), indent=1) + "\n", "utf-8")
    return 1 if report.faults else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m visualizations.load_test",
        description="Many visitors ask the app at once, over HTTP as their pages would; every answer is checked.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--visitors", type=_count, default=50, help="in a wave")
    parser.add_argument("--tokens", type=_count, default=64, help="that each asks for")
    parser.add_argument("--waves", type=_count, default=3, help="one after the other")
    parser.add_argument(
        "--within", "--spread", type=float, default=5.0, metavar="SECONDS", help="over which the visitors of a wave arrive"
    )
    parser.add_argument("--closing", type=_share, default=0.0, help="share of the visitors who close their tabs at some moment")
    parser.add_argument("--alone", type=_count, default=8, help="greedy prompts that are also asked alone, to compare with")
    parser.add_argument("--patience", type=float, default=300.0, metavar="SECONDS", help="after which an answer is lost")
    parser.add_argument("--url", type=_local, help="an app that runs on this machine; without it one is started")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all numbers to this file")
    return parser


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more.")
    return count


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("it must be a number from 0 to 1.")
    return share


def _local(text: str) -> str:
    try:
        return loopback(text)
    except ValueError as refusal:
        raise argparse.ArgumentTypeError(f"it must be {refusal}.") from None


@contextmanager
def _address(url: str | None) -> Iterator[str]:
    if url is not None:
        yield url
        return
    with launched_app() as started:
        yield started


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
