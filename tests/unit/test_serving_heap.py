"""The stocks of memory that threads get from glibc."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THREADS = 6
# Each thread takes memory while all others are there too; then glibc is asked how many stocks there are.
PROGRAM = f"""
import ctypes, os, threading
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
all_there = threading.Barrier({THREADS})
def take():
    all_there.wait()
    libc.malloc(1_000)
    all_there.wait()
threads = [threading.Thread(target=take) for _ in range({THREADS})]
for thread in threads: thread.start()
for thread in threads: thread.join()
out = ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="Only glibc has a stock for every thread.")
@pytest.mark.parametrize(("first", "fewest", "most"), [("import visualizations.serving", 1, 2), ("pass", 3, THREADS + 1)])
def test_threads_of_a_process_that_serves_share_two(first: str, fewest: int, most: int) -> None:
    here = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    told = subprocess.run([sys.executable, "-c", first + PROGRAM], cwd=ROOT, env=here, capture_output=True, text=True, check=True)
    assert fewest <= told.stdout.count("<heap nr=") <= most
