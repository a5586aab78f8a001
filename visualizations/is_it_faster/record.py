"""Record what the tab "Is it faster?" opens with, on this machine: python -m visualizations.record_timings

Nothing else should run meanwhile. With 6 prompts, 5 repeats and 64 tokens it takes a quarter of an hour on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from specdec.models.devices import use_threads
from specdec.models.pairs import load_pair
from specdec.settings import Settings
from specdec.timing.compare import compare, sweep
from specdec.timing.costs import measure_costs
from specdec.timing.prompts import own_prompts
from specdec.timing.race import race
from specdec.timing.roofline import measure_roofline
from visualizations.components.recorded import parsed, recording_parser
from visualizations.is_it_faster.records import FOLDER, NAMES


def main() -> None:
    """Measure what was named, all five by default, and write each record as soon as it is there."""
    options = parsed(_parser(), NAMES)
    use_threads(options.threads)
    pair = load_pair(options.pair)
    prompts = own_prompts()[: options.prompts]
    settings = Settings.checked(gamma=options.gamma, temperature=options.temperature, max_new_tokens=options.tokens)
    repeats = options.repeats
    measurements: dict[str, Callable[[], Iterator[Any]]] = {
        "race": lambda: race(pair, prompts[0], settings),
        "comparison": lambda: compare(pair, prompts, settings, repeats=repeats, with_transformers=True),
        "costs": lambda: measure_costs(pair, repeats=3 * repeats),
        "roofline": lambda: measure_roofline(pair, repeats=2 * repeats),
        "sweep": lambda: sweep(pair, prompts, settings, repeats=repeats),
    }
    FOLDER.fill(measurements, options.names)


def _parser() -> argparse.ArgumentParser:
    parser = recording_parser("record_timings", __doc__, NAMES)
    parser.add_argument("--gamma", type=int, default=4)
    parser.add_argument("--temperature", type=float, default=0.0)
    return parser
