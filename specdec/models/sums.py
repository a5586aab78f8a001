"""What the files of a folder were when they were written: sizes and sha256 sums, kept beside them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter
from pydantic.dataclasses import dataclass

from specdec.settings import Phrase

SUMS = "sums.json"


@dataclass(frozen=True)
class FileSum:
    """One file. bytes: its size; sha256: in hex."""

    bytes: int
    sha256: str


_RECORD = TypeAdapter(Annotated[dict[str, FileSum], Field(min_length=1)])


def write_sums(folder: Path) -> None:
    """Keep size and sum of every file in `folder`, a new one without folders in it, in its `sums.json`."""
    sums = {path.name: FileSum(path.stat().st_size, sha256_of(path)) for path in sorted(folder.iterdir())}
    (folder / SUMS).write_bytes(_RECORD.dump_json(sums, indent=2))


def damage(folder: Path, unrecorded: Path) -> Phrase | None:
    """What is wrong with the files in `folder`, in a few words; None when all are as they were written.

    unrecorded: the record that holds for a folder that has none of its own.
    """
    own = folder / SUMS
    try:
        sums = _RECORD.validate_json((own if own.exists() else unrecorded).read_bytes())
        for name, kept in sums.items():
            if (size := (folder / name).stat().st_size) != kept.bytes:
                return Phrase("{name} has {size:,} bytes instead of {kept:,}", name=name, size=size, kept=kept.bytes)
        for name, kept in sums.items():
            if sha256_of(folder / name) != kept.sha256:
                return Phrase("{name} is not as it was written", name=name)
    except FileNotFoundError as fault:
        return Phrase("{name} is missing", name=Path(fault.filename).name)
    except OSError as fault:
        return Phrase("{name} can't be read", name=Path(fault.filename or folder).name)
    except ValueError:
        return Phrase("{name} is not as it was written", name=SUMS)
    return None


def sha256_of(path: Path) -> str:
    """Hex sha256 of a file."""
    with open(path, "rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
