"""How many runs may have models at once."""

from __future__ import annotations

import psutil

MOST_SLOTS = 32  # by itself; whoever starts the app may ask for up to MOST_RUNS
MOST_RUNS = 128
GIB_EACH = 1.5  # of the machine's memory: a slot keeps what its run has read, for both models, up to their whole context


def usual_slots() -> int:
    """As many as fit the memory of this machine."""
    return max(1, min(MOST_SLOTS, round(psutil.virtual_memory().total / 2**30 / GIB_EACH)))
