"""Speculative decoding that can be looked into: load a pair, decode a prompt, read the trace.

    import specdec

    pair = specdec.load_pair()
    trace = specdec.decode(pair, "Explain why the sky is blue.", gamma=4, seed=7)
    print(trace.output.text, trace.metrics.acceptance_rate)
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

# Before torch is loaded. Its threads wait for each other by spinning, for milliseconds unless told otherwise; beside
# other work that keeps the very thread they wait for from its core, and a pass takes ten times as long.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

_PUBLIC = {
    "load_pair": "models.pairs",
    "load_models": "models.pairs",
    "CATALOGUE": "models.catalogue",
    "Pair": "models.pairs",
    "branch": "branching",
    "resume": "branching",
    "Change": "trace.session",
    "Session": "trace.session",
    "decode": "recording",
    "stream": "recording",
    "Settings": "settings",
    "BadInput": "settings",
    "Trace": "trace.trace",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    """Import on first use: a program that only reads traces never waits for torch."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
