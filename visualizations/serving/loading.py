"""From a visitor's choice to a pair of models."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from specdec.models import pairs
from specdec.models.catalogue import CATALOGUE, SMOLLM2, STUDENT, is_folder
from specdec.models.weights import Progress, default_target_folder, hub_is_reachable
from specdec.settings import Phrase
from visualizations.serving.inputs import CUSTOM, PairChoice

# What reading a model needs of its repository: no other formats, no copies in folders.
_NEEDED, _NOT_NEEDED = ("*.json", "*.txt", "*.model", "*.jinja", "model*.safetensors"), ("*/*",)

# While transformers builds a model, number formats and initialisers are set for the whole process.
_ONE_READ = threading.Lock()


def load_choice(choice: PairChoice, progress: Callable[[Any], None]) -> Any:
    """The pair that a visitor chose. Slow; raises `BadInput` when it can't be had."""
    if choice.key == CUSTOM:
        return pairs.load_models(choice.target, choice.draft, progress=progress)
    return pairs.load_pair(choice.key, progress=progress)


def load_in_turn(choice: PairChoice, progress: Callable[[Any], None]) -> Any:
    """The same where several are loaded at once: they are downloaded side by side and read one by one."""
    _download(choice, progress)
    with _ONE_READ:
        return load_choice(choice, progress)


def _download(choice: PairChoice, progress: Callable[[Any], None]) -> None:
    """Fetch what isn't here yet. What goes wrong with a repository on the Hub is told by the reading, in its words."""
    spec = choice if choice.key == CUSTOM else CATALOGUE[choice.key]
    for name in filter(None, (spec.target, spec.draft)):
        if name in (SMOLLM2, STUDENT):  # the student is built on the other's embeddings
            default_target_folder(progress)
        elif not is_folder(name) and hub_is_reachable():
            from huggingface_hub import snapshot_download

            progress(Progress("download", None, Phrase("Downloading {name}…", name=name)))
            try:
                snapshot_download(name, allow_patterns=list(_NEEDED), ignore_patterns=list(_NOT_NEEDED))
            except (OSError, ValueError):
                pass
