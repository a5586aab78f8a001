"""The real app on a free port, for tests that use it as a visitor does."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest

from visualizations.demo import build_demo, launch_options
from visualizations.serving.inputs import CUSTOM, PairChoice
from visualizations.serving.loading import load_choice
from visualizations.serving.shelf import ModelShelf


@contextmanager
def launched(
    load: Callable[[PairChoice, Callable[[Any], None]], Any], port: int | None = None, **serving: Any
) -> Iterator[str]:
    """The address of the app while it runs. load: where its models come from. port: a free one unless given.
    serving: of its `ModelShelf`."""
    demo = build_demo(ModelShelf(load, **serving))
    _, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, server_port=port or free_port(), **launch_options())
    try:
        yield url
    finally:
        demo.close(verbose=False)


@contextmanager
def launched_with(made: Any, the_tab: ModuleType, pair: Any) -> Iterator[str]:
    """The address of the app with made-up records in place of those that `the_tab` opens with, and `pair` for its models."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(the_tab, "recorded", lambda: made)
        the_tab._recorded_values.cache_clear()
        with launched(only(pair)) as url:
            yield url
        the_tab._recorded_values.cache_clear()


def chatty(pair: Any) -> Any:
    """`pair`, whose tokenizer now has a chat template, of the message alone: the page's own settings suit it."""
    pair.tokenizer.chat_template = "{{ messages[0].content }}"
    return pair


def free_port() -> int:
    """A port of this machine that nobody uses, chosen by the system."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def only(pair: Any) -> Callable[[PairChoice, Callable[[Any], None]], Any]:
    """A loader that has `pair` at hand for every key of the catalogue; Hub ids go their usual way."""

    def load(choice: PairChoice, progress: Callable[[Any], None]) -> Any:
        return load_choice(choice, progress) if choice.key == CUSTOM else pair

    return load
