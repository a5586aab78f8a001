"""The pairs of models on offer, and what their models are called.

Importing this module costs no torch.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from specdec.settings import Phrase

SMOLLM2 = "SmolLM2-135M-Instruct"
STUDENT = "student"
_HEAD_FORMATS = "specdec-feature-head/"  # of any version


@dataclass(frozen=True)
class PairSpec:
    """A line of the catalogue.

    target, draft: `SMOLLM2` and `STUDENT` (bundled), Hub ids, or folders by their absolute paths; with draft None
    only copying can draft. dtype, device: as `load_models` takes them.
    """

    key: str
    title: str
    target: str
    draft: str | None
    note: str
    dtype: str = "auto"
    device: str = "auto"


_360M, _1_7B = "HuggingFaceTB/SmolLM2-360M-Instruct", "HuggingFaceTB/SmolLM2-1.7B-Instruct"
_QWEN = "Qwen/Qwen2.5-{}-Instruct"
_SPECS = (
    PairSpec("smollm2-135m+student", Phrase("SmolLM2-135M ← our student"), SMOLLM2, STUDENT, "bundled; runs anywhere"),
    PairSpec("smollm2-135m+itself", Phrase("SmolLM2-135M ← itself"), SMOLLM2, SMOLLM2, "the same twice: α must be 1"),
    PairSpec("smollm2-360m+student", Phrase("SmolLM2-360M ← our student"), _360M, STUDENT, "0.7 GB from the Hub"),
    PairSpec("smollm2-360m+135m", "SmolLM2-360M ← SmolLM2-135M", _360M, SMOLLM2, "0.7 GB from the Hub"),
    PairSpec("smollm2-1.7b+student", Phrase("SmolLM2-1.7B ← our student"), _1_7B, STUDENT, "3.4 GB from the Hub"),
    PairSpec("smollm2-1.7b+135m", "SmolLM2-1.7B ← SmolLM2-135M", _1_7B, SMOLLM2, "3.4 GB from the Hub"),
    PairSpec("qwen2.5-1.5b+0.5b", "Qwen2.5-1.5B ← 0.5B", _QWEN.format("1.5B"), _QWEN.format("0.5B"), "4 GB from the Hub"),
    PairSpec("qwen2.5-7b+0.5b", "Qwen2.5-7B ← 0.5B", _QWEN.format("7B"), _QWEN.format("0.5B"), "16 GB from the Hub; a GPU"),
    PairSpec("gpt2-xl+distilgpt2", "GPT-2 XL ← DistilGPT-2", "openai-community/gpt2-xl", "distilbert/distilgpt2", "7 GB from the Hub; raw text only"),
)
CATALOGUE: dict[str, PairSpec] = {spec.key: spec for spec in _SPECS}
DEFAULT_PAIR = _SPECS[0].key


def offer_first(spec: PairSpec) -> None:
    """Put a pair before all others, for as long as the process lives; to be called before the page is built."""
    others = {key: other for key, other in CATALOGUE.items() if key != spec.key}
    CATALOGUE.clear()
    CATALOGUE.update({spec.key: spec} | others)


def first_pair() -> str:
    """The key of the pair that is offered first: `DEFAULT_PAIR`, unless another was put before it."""
    return next(iter(CATALOGUE))


def located(source: str) -> str:
    """A folder by its absolute path, so that the form alone tells it from a Hub id; anything else as it is."""
    return os.path.abspath(source) if source not in (SMOLLM2, STUDENT) and os.path.isdir(source) else source


def is_folder(source: str) -> bool:
    """Whether a source that is `located` is a folder, whether or not it is still there."""
    return os.path.isabs(source)


def is_head_folder(source: str) -> bool:
    """Whether a `located` source is a folder with a draft head that reads its target: its manifest says so."""
    if not is_folder(source):
        return False
    try:
        with open(os.path.join(source, "manifest.json"), "rb") as manifest:
            return str(json.load(manifest)["format"]).startswith(_HEAD_FORMATS)
    except (OSError, ValueError, TypeError, LookupError):
        return False


def names_of(target: str, draft: str | None) -> tuple[str, str | None]:
    """What the models of two `located` sources are called wherever a person reads of them.

    A folder is called by its last name: its path belongs in no trace and no sentence. Two folders of one name are
    told apart.
    """
    big, small = _name_of(target), draft and _name_of(draft)
    return big, f"{small} (draft)" if small == big and draft != target else small


def key_of(target: str, draft: str | None) -> str:
    """The name of a pair that has none of its own. target, draft: names."""
    return f"{target}+{draft}" if draft else target


def _name_of(source: str) -> str:
    return os.path.basename(source) or source if is_folder(source) else source
