"""How many cores this process may use. Costs no torch: the answer is wanted before torch is loaded."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path, PurePosixPath

import psutil


def cores_beside_page() -> int:
    """Threads for a model whose runs are also drawn: one core stays with the page."""
    return max(1, usable_cores() - 1)


def usable_cores(root: Path = Path("/")) -> int:
    """Cores that this process may keep busy, 1 or more: those it may run on, and no more than its CPU quota.

    A quota of a core and a half counts as two cores. root: where Linux's /proc and /sys are.
    """
    process = psutil.Process()
    allowed = len(process.cpu_affinity()) if hasattr(process, "cpu_affinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(allowed, _quota(root))))


def _quota(root: Path) -> float:
    """Cores' worth of time that the process's control groups allow it, those above it included; else infinity."""
    quotas = [math.inf]
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup" / ("cpu" if controllers else "")
        # In a container `group` may be the host's name for it: then only the last of these is there, its top.
        for above in (PurePosixPath(group), *PurePosixPath(group).parents):
            folder = mount / str(above).lstrip("/")
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if controllers else ("cpu.max",)
            limit = " ".join(_read(folder / name).strip() for name in names)
            if match := re.fullmatch(r"(\d+) (\d+)", limit):
                quotas.append(int(match[1]) / int(match[2]))
    return min(quotas)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
