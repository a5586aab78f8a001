"""The command `python -m visualizations.handout --seed 7 [--language zh] [--out handout.html] [--pdf]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from visualizations.handout.printing import NoBrowser, print_pdf
from visualizations.handout.sheet import answer_key, handout
from visualizations.text import LANGUAGES, spoken


def main(arguments: Sequence[str]) -> int:
    """Write the handout and, beside it, its key; tell which files. 1 where a PDF was wanted and none could be made."""
    given = _parser().parse_args(arguments)
    with spoken((given.language,)):
        files = {given.out: handout(given.seed), given.out.with_stem(f"{given.out.stem}-key"): answer_key(given.seed)}
        for file, html in files.items():
            file.write_text(html, encoding="utf-8")
            print(file)
        if not given.pdf:
            return 0
        papers = {file.with_suffix(".pdf"): html for file, html in files.items()}
        try:
            print_pdf(papers)
        except NoBrowser as missing:
            print(missing, file=sys.stderr)
            return 1
    print(*papers, sep="\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m visualizations.handout",
        description="Make a handout for a class, two A4 pages to fill in by hand, and beside it the key, in a file whose name ends in -key.",
    )
    parser.add_argument("--seed", type=int, default=0, help="which numbers stand on it; the key of a seed fits the handout of that seed")
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0])
    parser.add_argument("--out", type=Path, default=Path("handout.html"), help="the HTML file to write, to be printed from a browser")
    parser.add_argument("--pdf", action="store_true", help="write both as PDF too, with the Chromium of this machine")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
