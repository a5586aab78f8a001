"""Folders of draft weights: shards small enough for a repository, and a manifest with the sha256 of each."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from specdec.models.sums import sha256_of
from specdec.settings import BadInput

MANIFEST = "manifest.json"
SHARD_BYTES = 9_500_000


class StudentError(BadInput):
    """A folder of a draft model that can't be used, said in one sentence."""


def read_shards(folder: Path, form: str, needed: Collection[str]) -> tuple[dict[str, Tensor], dict[str, object]]:
    """The tensors kept in `folder`, after the check of every shard's sha256, and the manifest.

    form: the format that the manifest must name.
    needed: names of tensors without which the draft can't be built.
    """
    manifest = _manifest(folder, form)
    tensors: dict[str, Tensor] = {}
    for name, expected in manifest["shards"].items():
        shard = folder / name
        if not shard.is_file():
            raise StudentError(
                "The draft model in {folder} is incomplete: {name} is missing.", folder=folder, name=name
            )
        found = sha256_of(shard)
        if found != expected:
            raise StudentError(
                "{shard} is damaged or was changed: its sha256 is {found}, expected {expected}.",
                shard=shard, found=found, expected=expected,
            )
        tensors.update(load_file(shard))
    if missing := set(needed) - tensors.keys():
        raise StudentError(
            "The draft model in {folder} is incomplete: its shards lack {missing}.",
            folder=folder, missing=", ".join(sorted(missing)),
        )
    return tensors, manifest


def _manifest(folder: Path, form: str) -> dict[str, object]:
    path = folder / MANIFEST
    if not path.is_file():
        raise StudentError(
            "There is no draft model in {folder}: {manifest} is missing.", folder=folder, manifest=MANIFEST
        )
    try:
        manifest = json.loads(path.read_bytes())
        found, shards = manifest.get("format"), dict(manifest.get("shards", {}))
    except (ValueError, TypeError, AttributeError):
        raise StudentError("{path} is damaged: it is not the JSON of a manifest.", path=path) from None
    if found != form:
        raise StudentError(
            "{path} has format {form!r}; this version reads {known!r}.", path=path, form=found, known=form
        )
    return manifest | {"shards": shards}


def write_shards(folder: Path, form: str, tensors: dict[str, Tensor], stem: str, about: dict[str, object]) -> None:
    """Write shards under `SHARD_BYTES` each and the manifest with their sha256 sums.

    Args:
        folder: created if missing; earlier shards of that stem there are removed.
        form: the format that the manifest names.
        tensors: floats are kept as bf16, ids as int32.
        stem: how the shards' names begin.
        about: further entries of the manifest, e.g. the base model's name.
    """
    groups: list[dict[str, Tensor]] = [{}]
    for name, tensor in sorted(tensors.items()):
        kept = tensor.detach().to("cpu", torch.bfloat16 if tensor.is_floating_point() else torch.int32).contiguous()
        if sum(held.nbytes for held in groups[-1].values()) + kept.nbytes > SHARD_BYTES:
            groups.append({})
        groups[-1][name] = kept

    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob(f"{stem}-*.safetensors"):
        stale.unlink()
    shards = {}
    for number, group in enumerate(groups, start=1):
        shard = folder / f"{stem}-{number:05d}-of-{len(groups):05d}.safetensors"
        save_file(group, shard)
        shard.chmod(0o644)
        shards[shard.name] = sha256_of(shard)
    (folder / MANIFEST).write_text(json.dumps({"format": form, **about, "shards": shards}, indent=2) + "\n", encoding="utf-8")
