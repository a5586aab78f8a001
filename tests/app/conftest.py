"""The launched app and its clients."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gradio_client import Client

from specdec.models.pairs import Pair
from tests.launched import launched, only


@pytest.fixture(scope="session")
def app_url(default_pair: Pair) -> Iterator[str]:
    """The app with its default pair loaded."""
    with launched(only(default_pair)) as url:
        yield url


@pytest.fixture(scope="session")
def client(app_url: str) -> Client:
    """One visitor, who comes once: to read what the app offers takes a client longer than a short call."""
    return Client(app_url, verbose=False)
