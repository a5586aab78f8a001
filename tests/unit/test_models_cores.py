"""Cores: what this process may use, by its affinity and by its quota, whatever the machine has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import torch

from specdec.models.cores import usable_cores
from specdec.models.devices import use_threads
from specdec.timing.hardware import describe

ROOT = Path(__file__).parents[2]
NOTHING = Path("/no/such/system")


@pytest.fixture
def allowed(monkeypatch):
    """allowed(count): a machine with 16 cores, of which the process may run on `count`."""

    def set_affinity(count: int) -> None:
        monkeypatch.setattr(os, "cpu_count", lambda: 16)
        monkeypatch.setattr(psutil.Process, "cpu_affinity", lambda self: list(range(count)), raising=False)

    return set_affinity


@pytest.fixture
def system(tmp_path):
    """system(files): a folder that holds these files, as the root of a Linux system."""

    def make(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        return tmp_path

    return make


def version_1(group: str, quota: int, period: int = 100_000) -> dict[str, str]:
    folder = f"sys/fs/cgroup/cpu{group}"
    return {f"{folder}/cpu.cfs_quota_us": str(quota), f"{folder}/cpu.cfs_period_us": str(period)}


@pytest.mark.parametrize("count", [1, 2, 16])
def test_the_cores_that_the_process_may_run_on_count_not_those_of_the_machine(allowed, count):
    allowed(count)
    assert usable_cores(NOTHING) == count


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system knows no affinity")
def test_a_real_affinity_is_seen():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize("count", [12, None])
def test_a_system_without_affinity_tells_its_own_count(monkeypatch, count):
    monkeypatch.delattr(psutil.Process, "cpu_affinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    assert usable_cores(NOTHING) == (count or 1)


QUOTAS = {
    "version 2": ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "200000 100000"}, 2),
    "version 2, above": ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "300000 100000"}, 3),
    "version 2, the least": (
        {
            "proc/self/cgroup": "0::/a/b",
            "sys/fs/cgroup/a/cpu.max": "300000 100000",
            "sys/fs/cgroup/a/b/cpu.max": "800000 100000",
        },
        3,
    ),
    "version 2, in a container": ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "400000 100000"}, 4),
    "version 2, none": ({"proc/self/cgroup": "0::/a", "sys/fs/cgroup/a/cpu.max": "max 100000"}, 16),
    "a core and a half": ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "150000 100000"}, 2),
    "a tenth of a core": ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "10000 100000"}, 1),
    "more than there is": ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "9900000 100000"}, 16),
    "version 1": ({"proc/self/cgroup": "3:cpu,cpuacct:/a\n2:memory:/m", **version_1("/a", 250_000)}, 3),
    "version 1, in a container": ({"proc/self/cgroup": "3:cpuacct,cpu:/docker/0f", **version_1("", 100_000)}, 1),
    "version 1, none": ({"proc/self/cgroup": "3:cpu:/a", **version_1("/a", -1)}, 16),
    "another controller's group": ({"proc/self/cgroup": "3:cpuset:/a", **version_1("/a", 100_000)}, 16),
    "no cgroups": ({}, 16),
}


@pytest.mark.parametrize(("files", "expected"), QUOTAS.values(), ids=QUOTAS)
def test_a_quota_of_the_process_or_of_a_group_above_it_is_the_limit(allowed, system, files, expected):
    allowed(16)
    assert usable_cores(system(files)) == expected


def test_the_smaller_of_affinity_and_quota_counts(allowed, system):
    allowed(2)
    assert usable_cores(system(QUOTAS["version 2, in a container"][0])) == 2


def test_beside_a_number_stand_the_cores_that_were_to_be_had(allowed):
    allowed(1)
    assert describe(torch.device("cpu")).cores == 1


def test_torch_takes_no_more_threads_than_cores_unless_told(allowed):
    allowed(1)
    before = torch.get_num_threads()
    try:
        use_threads(3)
        assert torch.get_num_threads() == 3
        use_threads(None)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


START = """
import os, runpy, sys, types
import psutil
os.cpu_count = lambda: 16
psutil.Process.cpu_affinity = lambda self: list(range({allowed}))
page = types.ModuleType("visualizations.demo")
page.build_demo, page.launch_options = lambda shelf: None, dict
sys.modules["visualizations.demo"] = page
runpy.run_path("app.py")
print(os.environ["OMP_NUM_THREADS"], "torch" in sys.modules)
"""


@pytest.mark.parametrize(
    ("cores", "chosen", "expected"), [(1, None, "1"), (2, None, "1"), (5, None, "4"), (5, "7", "7")]
)
def test_the_app_leaves_one_of_its_cores_to_the_page_and_asks_before_torch_is_loaded(cores, chosen, expected):
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    if chosen:
        environment["OMP_NUM_THREADS"] = chosen
    command = [sys.executable, "-c", START.format(allowed=cores)]
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split() == [expected, "False"]


@pytest.mark.parametrize(("own", "spins"), [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7")])
def test_threads_spin_briefly_before_torch_is_loaded_unless_the_user_has_it_otherwise(own, spins):
    code = "import os, sys, specdec; print(os.environ['GOMP_SPINCOUNT'], 'torch' in sys.modules)"
    without = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=without | own, capture_output=True, text=True)
    assert told.stdout.split() == [spins, "False"], told.stderr
