"""Starting it all: Ray on this machine or a cluster that is there, the models, then the page."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

# Before Ray is imported: the app contacts nobody.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from ray import serve

from specdec.models.catalogue import PairSpec
from specdec.models.cores import usable_cores
from visualizations.serving.ray.config import (
    OBJECT_STORE_BYTES,
    QUIET,
    Cluster,
    Share,
    models_options,
    page_options,
    share_of,
)
from visualizations.serving.ray.models import Models
from visualizations.serving.ray.page import Build, LaunchOptions, page_of

ROOT = Path(__file__).parents[3]
PAGE_CPUS = 1
PORTS = range(7860, 7960)  # as Gradio looks for one
_MODELS, _PAGE = ("Models", "models"), "page"
# What nodes need of the repository, when they have none.
_LEFT_OUT = [".git", "tests", "docs"]
_PASSED_ON = ("GRADIO_ANALYTICS_ENABLED", "HF_HUB_DISABLE_TELEMETRY", "RAY_USAGE_STATS_ENABLED")


def serve_page(
    build: Build, launch_options: LaunchOptions, pairs: Sequence[PairSpec], port: int | None, cluster: Cluster
) -> None:
    """Serve until the process is told to end. See `running`."""
    with running(build, launch_options, pairs, port, cluster) as url:
        print(f"* Running on {url} with {_told(cluster)}", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


@contextmanager
def running(
    build: Build, launch_options: LaunchOptions, pairs: Sequence[PairSpec], port: int | None, cluster: Cluster
) -> Iterator[str]:
    """The page's address while it runs. It listens on 127.0.0.1, or where GRADIO_SERVER_NAME says.

    build: makes the page of a backend. launch_options: of the page's launch. pairs: to offer before all others. port: the
    first free one, unless given.
    """
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    _join(cluster, environment)
    try:
        host = os.environ.get("GRADIO_SERVER_NAME", "127.0.0.1")
        port = port or _first_free(host)
        serve.start(proxy_location="HeadOnly", http_options={"host": host, "port": port}, logging_config=QUIET)
        share = _share(cluster)
        models = serve.deployment(**models_options(cluster, share, environment))(Models)
        serve.run(models.bind(tuple(pairs), cluster.runs, share.beside), name=_MODELS[1], route_prefix=None)
        page = page_of(build, launch_options, tuple(pairs), _MODELS, page_options(environment))
        serve.run(page, name=_PAGE, route_prefix="/")
        yield f"http://{host}:{port}"
    finally:
        _leave(cluster)


def _join(cluster: Cluster, environment: dict[str, str]) -> None:
    if cluster.address is None:
        ray.init(
            "local",  # never a cluster that happens to run here
            num_cpus=max(usable_cores(), PAGE_CPUS + 1),
            object_store_memory=OBJECT_STORE_BYTES,
            include_dashboard=False,
            logging_level="warning",
            runtime_env={"env_vars": environment | {"PYTHONPATH": str(ROOT)}},
        )
    else:
        code: dict[str, Any] = {"working_dir": str(ROOT), "excludes": _LEFT_OUT}
        ray.init(cluster.address, logging_level="warning", runtime_env=code | {"env_vars": environment})


def _leave(cluster: Cluster) -> None:
    if cluster.address is None:
        serve.shutdown()
    else:  # others may serve there too
        for name in (_PAGE, _MODELS[1]):
            serve.delete(name)
    ray.shutdown()


def _share(cluster: Cluster) -> Share:
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cpus = [node.get("CPU", 0) - PAGE_CPUS * ("node:__internal_head__" in node) for node in nodes]
    return share_of(cpus, [node.get("GPU", 0) for node in nodes], cluster.most)


def _first_free(host: str) -> int:
    for port in PORTS:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
    raise OSError(f"No port from {PORTS[0]} to {PORTS[-1]} is free.")


def _told(cluster: Cluster) -> str:
    several = cluster.most if cluster.most == cluster.fewest else f"{cluster.fewest} to {cluster.most}"
    return f"{several} replicas of the models"
