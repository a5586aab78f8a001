"""A pair of models put before all others of the catalogue, for as long as a test needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from specdec.models.catalogue import CATALOGUE, PairSpec, offer_first


@contextmanager
def offering(spec: PairSpec) -> Iterator[PairSpec]:
    """The pair, first in the catalogue until it is left."""
    before = dict(CATALOGUE)
    offer_first(spec)
    try:
        yield spec
    finally:
        CATALOGUE.clear()
        CATALOGUE.update(before)
