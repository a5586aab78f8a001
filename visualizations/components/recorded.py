"""Measurements that a tab shows before anyone has pressed a button: a folder of records, and the command that fills it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdec.models.catalogue import CATALOGUE, DEFAULT_PAIR
from specdec.timing.records import from_json


@dataclass(frozen=True)
class RecordFolder:
    """A file for each record, named as it is."""

    path: Path

    def read(self, kinds: Mapping[str, type]) -> dict[str, Any]:
        """The records named in `kinds`, each of its kind."""
        return {name: from_json(kind, self._file(name).read_bytes()) for name, kind in kinds.items()}

    def write(self, name: str, record: Any) -> None:
        """Keep a record under its name."""
        self.path.mkdir(exist_ok=True)
        self._file(name).write_text(record.to_json() + "\n", "utf-8")

    def fill(self, measurements: Mapping[str, Callable[[], Iterator[Any]]], names: list[str]) -> None:
        """Measure what is named, all of it where nothing is, and write each record as soon as it is there."""
        for name in names or measurements:
            self.write(name, last(measurements[name]()))
            print(f"{name}: written", flush=True)

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.json"


def last(records: Iterator[Any]) -> Any:
    """The last record of a measurement that grows."""
    record = None
    for record in records:
        pass
    if record is None:
        raise ValueError("The measurement gave no record.")
    return record


def recording_parser(command: str, about: str | None, names: tuple[str, ...]) -> argparse.ArgumentParser:
    """The command line of a command that records `names`: which of them, with what, how much of it."""
    parser = argparse.ArgumentParser(prog=f"python -m visualizations.{command}", description=about)
    parser.add_argument("names", nargs="*", metavar="{" + ",".join(names) + "}", help="only these; default: all")
    parser.add_argument("--pair", choices=tuple(CATALOGUE), default=DEFAULT_PAIR)
    parser.add_argument("--prompts", type=int, default=6, help="so many of the built-in ones")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64, help="new tokens of a run, at most")
    parser.add_argument("--threads", type=int, help="of torch; default: its own choice, within the cores it may use")
    return parser


def parsed(parser: argparse.ArgumentParser, names: tuple[str, ...]) -> argparse.Namespace:
    """The command line as given, with no other names than these in it."""
    options = parser.parse_args()
    for name in options.names:
        if name not in names:
            parser.error(f"there is no measurement {name}; they are {', '.join(names)}")
    return options
