"""From a visitor's choice to a pair of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specdec.models import pairs
from visualizations.serving.inputs import CUSTOM, PairChoice


def load_choice(choice: PairChoice, progress: Callable[[Any], None]) -> Any:
    """The pair that a visitor chose. Slow; raises `BadInput` when it can't be had."""
    if choice.key == CUSTOM:
        return pairs.load_models(choice.target, choice.draft, progress=progress)
    return pairs.load_pair(choice.key, progress=progress)
