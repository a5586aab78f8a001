"""What a visitor waits for, as a status line: models that load, or a place in the line for them."""

from __future__ import annotations

from typing import Any

from visualizations.components.status_line import counting_down, status
from visualizations.serving.backend import Loading, Waiting
from visualizations.text import say, t


def waiting_line(event: Waiting) -> dict[str, Any]:
    """What a run waits for."""
    if event.loading is not None:
        return loading_line(event.loading)
    if event.again:
        return status(t("app.begun_again"), "busy")
    return status(t("app.reading"), "busy") if event.begun else _place_line(event)


def _place_line(event: Waiting) -> dict[str, Any]:
    key = "app.line." + ("behind" if event.behind else "alone" if event.alone else "mine")
    if event.seconds is None:
        return status(t(f"{key}.unknown", place=event.place), "busy")
    return counting_down(lambda seconds: t(f"{key}.about", place=event.place, seconds=seconds), event.seconds)


def loading_line(loading: Loading | None) -> dict[str, Any]:
    """How far the loading of a pair is; None before it was asked for."""
    if loading is None:
        return status(t("app.load_later"))
    if loading.error is not None:
        return status(say(loading.error.phrase), "fault")
    if loading.loaded:
        return status(t("app.loaded", pair=loading.choice.title), "done")
    if loading.progress is None:
        return status(t("app.load_begins", pair=loading.choice.title), "busy")
    return status(say(loading.progress.message), "busy", loading.progress.done)
