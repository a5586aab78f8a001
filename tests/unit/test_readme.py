"""The README keeps its word: its head is what Spaces reads, its commands and its file list are true."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CHINESE = (ROOT / "README.zh.md").read_text("utf-8")
HEAD = yaml.safe_load(README.split("---")[1])
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
LARGEST_FILE = 10 * 2**20


def test_the_head_is_one_that_spaces_accepts() -> None:
    assert HEAD["sdk"] == "gradio" and (ROOT / HEAD["app_file"]).is_file()
    assert len(HEAD["short_description"]) <= 60
    assert {HEAD["colorFrom"], HEAD["colorTo"]} <= COLOURS
    assert HEAD["license"] == "apache-2.0" and "Apache License" in (ROOT / "LICENSE").read_text("utf-8")
    assert isinstance(HEAD["python_version"], str)


def test_the_sdk_is_in_the_range_of_the_requirements() -> None:
    low, high = re.search(r"^gradio>=([\d.]+),<([\d.]+)$", (ROOT / "requirements.txt").read_text(), re.M).groups()
    numbers = [tuple(map(int, version.split("."))) for version in (low, str(HEAD["sdk_version"]), high)]
    assert numbers[0] <= numbers[1] < numbers[2]


def test_the_two_commands_are_there() -> None:
    commands = re.findall(r"^pip install .*$", README, re.M)
    assert commands == [
        "pip install -r requirements.txt && python app.py",
        "pip install -r requirements.txt && python -m pytest",
    ]


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(((?!http)[^)#]+)", README + CHINESE))))
def test_what_it_links_to_exists(target: str) -> None:
    assert (ROOT / target).is_file()


def test_the_chinese_one_holds_the_same_commands_code_and_figures() -> None:
    def blocks(text: str) -> list[str]:
        return re.findall(r"^```.*?^```$", text, re.M | re.S)

    def figures(text: str) -> set[str]:
        return set(re.findall(r"\d+\.\d+", text))

    assert blocks(CHINESE) == blocks(README)[:3]
    headline = README[README.index("| speculative ÷ plain") :].split("\n\n")[0]
    assert figures(headline) <= figures(CHINESE) <= figures(README)


def test_each_links_to_the_other() -> None:
    assert "](README.zh.md)" in README and "](README.md)" in CHINESE


def test_no_file_needs_large_file_storage() -> None:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if names.returncode:
        pytest.skip("not a git checkout")
    sizes = {name: (ROOT / name).stat().st_size for name in names.stdout.split("\0") if (ROOT / name).is_file()}
    assert {name: size for name, size in sizes.items() if size > LARGEST_FILE} == {}
