"""What the command line of app.py says of a cluster. Importing this module costs no Ray."""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from specdec.settings import BadInput, shown
from visualizations.serving.ray.config import MOST_REPLICAS, Cluster

IN_PROCESS, RAY = "process", "ray"
EXTRA = "requirements-ray.txt"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that choose where the models run."""
    parser.add_argument(
        "--backend",
        choices=(IN_PROCESS, RAY),
        default=IN_PROCESS,
        help=f"where the models run: in the page's own process, the default, or as replicas that Ray Serve keeps, which needs {EXTRA}",
    )
    parser.add_argument(
        "--replicas",
        metavar="N|FEWEST-MOST",
        type=_replicas,
        help="with Ray: how many replicas of the models, or between which two numbers Ray scales them; without it, one",
    )
    parser.add_argument(
        "--address",
        metavar="HOST:PORT|auto",
        help="with Ray: a cluster that is there already, auto for the one that this machine belongs to; without it, Ray is started on this machine alone",
    )


def cluster_of(given: argparse.Namespace) -> Cluster | None:
    """What was asked for; None for this process. Raises `BadInput`."""
    if given.backend == IN_PROCESS:
        if given.replicas is not None or given.address is not None:
            raise BadInput("--replicas and --address are for --backend {ray}.", ray=RAY)
        return None
    if find_spec("ray") is None:
        raise BadInput("--backend {ray} needs Ray: pip install -r {extra}.", ray=RAY, extra=EXTRA)
    fewest, most = given.replicas or (1, 1)
    return Cluster(fewest, most, given.address, given.runs)


def _replicas(text: str) -> tuple[int, int]:
    fewest, between, most = text.partition("-")
    numbers = (fewest, most if between else fewest)
    if not all(number.isascii() and number.isdigit() and len(number) <= 9 for number in numbers):
        raise argparse.ArgumentTypeError(f"it must be a whole number, or two such as 2-6, not {shown(text)}.")
    first, last = map(int, numbers)
    if not 1 <= first <= last <= MOST_REPLICAS:
        raise argparse.ArgumentTypeError(f"it must be from 1 to {MOST_REPLICAS:,}, the fewest first, not {shown(text)}.")
    return first, last
