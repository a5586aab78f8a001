"""How the memory of a process that serves is shared out among its threads."""

from __future__ import annotations

import ctypes
import platform

MOST_ARENAS = 2
_M_ARENA_MAX = -8  # of glibc's malloc.h


def few_arenas() -> None:
    """From now on glibc's threads share two stocks of memory, as with MALLOC_ARENA_MAX=2; elsewhere nothing happens.

    It would give them up to eight for every core, and each keeps what its busiest moment took: with a thread for every
    run those moments add up, although they never come at once.
    """
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, MOST_ARENAS)
