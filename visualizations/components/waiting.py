"""What a visitor waits for, as a status line: models that load, or others who use them."""

from __future__ import annotations

from typing import Any

from visualizations.components.status_line import status
from visualizations.serving.runner import Loading, Waiting
from visualizations.text import say, t


def waiting_line(event: Waiting) -> dict[str, Any]:
    """What a run waits for."""
    if event.loading is not None:
        return loading_line(event.loading)
    return status(t("app.model_busy" if event.busy else "app.reading"), "busy")


def loading_line(loading: Loading | None) -> dict[str, Any]:
    """How far the loading of a pair is."""
    if loading is None:
        return status(t("app.load_later"))
    if loading.error is not None:
        return status(say(loading.error.phrase), "fault")
    if loading.pair is not None:
        return status(t("app.loaded", pair=loading.choice.title), "done")
    if loading.progress is None:
        return status(t("app.load_begins", pair=loading.choice.title), "busy")
    return status(say(loading.progress.message), "busy", loading.progress.done)
