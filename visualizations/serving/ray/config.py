"""The numbers of a cluster: how many replicas, what each gets of the machines, and when there are to be more of them.

Importing this module costs no Ray.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_REPLICAS = 1_000
# Works of one replica at a time, those that wait in its line included; what comes beyond waits at the page.
MOST_ON_REPLICA = 64
# With fewest < most replicas there is one for each so many works, looked at over so many seconds before one joins or leaves.
WORKS_A_REPLICA = 6
GROW_SECONDS, SHRINK_SECONDS = 20.0, 600.0
# A replica that leaves on purpose finishes what it has, for so long.
FINISH_SECONDS = 120.0
# The page holds two open connections for each visitor, and answers at once whatever else they ask.
MOST_ON_PAGE = 10_000
OBJECT_STORE_BYTES = 100 * 2**20  # runs are small; Ray would set a third of the memory aside

# Ray's own words: warnings only, and no line for each request of a visitor.
QUIET = {"log_level": "WARNING", "enable_access_log": False}


@dataclass(frozen=True)
class Cluster:
    """What was asked for. fewest, most: replicas; between the two Ray scales them. address: of a Ray cluster that is there
    already, `auto` for the one on this machine; None starts one here. runs: that may have a replica's models at once, None
    for as many as fit."""

    fewest: int = 1
    most: int = 1
    address: str | None = None
    runs: int | None = None


@dataclass(frozen=True)
class Share:
    """Of the machines, what one replica gets. cpus: whole cores, or a part of one; gpus: likewise. beside: how many
    replicas one machine may have."""

    cpus: float
    gpus: float
    beside: int = 1

    @property
    def threads(self) -> int:
        """With which its models compute."""
        return max(1, math.floor(self.cpus))


def share_of(cpus: Sequence[float], gpus: Sequence[float], replicas: int) -> Share:
    """The largest share that so many replicas can have at once; cpus, gpus: of each machine, less what the page needs."""
    return Share(_largest(cpus, replicas), min(1.0, _largest(gpus, replicas)), math.ceil(replicas / len(cpus)))


def models_options(cluster: Cluster, share: Share, environment: dict[str, str]) -> dict[str, Any]:
    """Of the deployment of the models, as `ray.serve.deployment` takes them."""
    env = environment | {"OMP_NUM_THREADS": str(share.threads)}
    options: dict[str, Any] = {
        "max_ongoing_requests": MOST_ON_REPLICA,
        "graceful_shutdown_timeout_s": FINISH_SECONDS,
        "ray_actor_options": {"num_cpus": share.cpus, "num_gpus": share.gpus, "runtime_env": {"env_vars": env}},
        "logging_config": QUIET,
    }
    if cluster.fewest == cluster.most:
        return options | {"num_replicas": cluster.most}
    scaling = {
        "min_replicas": cluster.fewest,
        "max_replicas": cluster.most,
        "target_ongoing_requests": WORKS_A_REPLICA,
        "upscale_delay_s": GROW_SECONDS,
        "downscale_delay_s": SHRINK_SECONDS,
    }
    return options | {"autoscaling_config": scaling}


def page_options(environment: dict[str, str]) -> dict[str, Any]:
    """Of the deployment of the page: one process, for visitors' sessions and their queue live in it."""
    return {
        "num_replicas": 1,
        "max_ongoing_requests": MOST_ON_PAGE,
        "ray_actor_options": {"num_cpus": 0, "runtime_env": {"env_vars": environment}},
        "logging_config": QUIET,
    }


def _largest(machines: Sequence[float], replicas: int) -> float:
    """The largest whole number that fits into the machines so many times, else the largest such part of one."""
    whole = (size for size in range(int(max(machines, default=0)), 0, -1) if sum(n // size for n in machines) >= replicas)
    units = sum(math.floor(n) for n in machines)
    return float(next(whole, 1 / math.ceil(replicas / units) if units else 0))
