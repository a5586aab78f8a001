"""Sums: whatever happens to a file after it was written is noticed, and the file named."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from specdec.models.sums import SUMS, damage, sha256_of, write_sums

FILES = {"a.bin": bytes(range(256)) * 5000, "b.json": b'{"words": ["cat", "dog"]}', "c.txt": b"one line\n"}


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with its sums."""
    made = tmp_path / "made"
    made.mkdir()
    for name, content in FILES.items():
        (made / name).write_bytes(content)
    write_sums(made)
    return made


@pytest.fixture
def no_record(tmp_path) -> Path:
    """A record that says nothing, for folders that have one of their own."""
    return tmp_path / "nothing.json"


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def test_a_folder_as_it_was_written_is_whole_and_further_files_are_nobodys_business(folder, no_record):
    assert damage(folder, no_record) is None
    (folder / "note").write_text("by hand")
    assert damage(folder, no_record) is None


@pytest.mark.parametrize("name", [*FILES, SUMS])
@pytest.mark.parametrize(
    "harm", [flipped, lambda content: content[: len(content) // 2], lambda content: b""], ids=["a bit", "cut", "empty"]
)
def test_a_changed_file_is_noticed_and_named(folder, no_record, name, harm):
    (folder / name).write_bytes(harm((folder / name).read_bytes()))
    found = damage(folder, no_record)
    assert found
    if name != SUMS:
        assert name in found


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, no_record, name):
    (folder / name).unlink()
    assert damage(folder, no_record) == f"{name} is missing"


def test_sizes_are_said(folder, no_record):
    (folder / "a.bin").write_bytes(b"12")
    assert damage(folder, no_record) == "a.bin has 2 bytes instead of 1,280,000"


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "{", '{"a.bin": 7}', '{"a.bin": {"bytes": 1280000}}', "\udcff"]
)
def test_a_record_that_is_none_vouches_for_nothing(folder, no_record, text):
    (folder / SUMS).write_bytes(text.encode(errors="surrogateescape"))
    assert damage(folder, no_record) == f"{SUMS} is not as it was written"


def test_a_folder_without_a_record_is_held_against_the_one_given(folder, tmp_path):
    record = (folder / SUMS).rename(tmp_path / "record.json")
    assert damage(folder, record) is None
    (folder / "c.txt").write_bytes(flipped(FILES["c.txt"]))
    assert damage(folder, record) == "c.txt is not as it was written"


def test_no_folder_a_file_and_a_folder_in_a_files_place_are_damaged(folder, tmp_path):
    record = (folder / SUMS).rename(tmp_path / "record.json")
    assert damage(tmp_path / "nowhere", record) == "a.bin is missing"
    assert damage(record, record)
    (folder / "c.txt").unlink()
    (folder / "c.txt").mkdir()
    assert damage(folder, record)


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_the_sum_of_a_file_is_that_of_its_content(tmp_path, size):
    content = b"x" * size
    (tmp_path / "file").write_bytes(content)
    assert sha256_of(tmp_path / "file") == hashlib.sha256(content).hexdigest()
