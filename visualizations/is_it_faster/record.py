"""Record what the tab "Is it faster?" opens with, on this machine: python -m visualizations.record_timings

Nothing else should run meanwhile. With 6 prompts, 5 repeats and 64 tokens it takes a quarter of an hour on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from specdec.models.devices import use_threads
from specdec.models.pairs import CATALOGUE, DEFAULT_PAIR, load_pair
from specdec.settings import Settings
from specdec.timing.compare import compare, sweep
from specdec.timing.costs import measure_costs
from specdec.timing.prompts import own_prompts
from specdec.timing.race import race
from specdec.timing.roofline import measure_roofline
from visualizations.is_it_faster.records import NAMES, last, write


def main() -> None:
    """Measure what was named, all five by default, and write each record as soon as it is there."""
    parser = _parser()
    options = parser.parse_args()
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no measurement {name}; they are {', '.join(NAMES)}")
    use_threads(options.threads)
    pair = load_pair(options.pair)
    prompts = own_prompts()[: options.prompts]
    settings = Settings.checked(gamma=options.gamma, temperature=options.temperature, max_new_tokens=options.tokens)
    repeats = options.repeats
    measurements: dict[str, Callable[[], Any]] = {
        "race": lambda: race(pair, prompts[0], settings),
        "comparison": lambda: compare(pair, prompts, settings, repeats=repeats, with_transformers=True),
        "costs": lambda: measure_costs(pair, repeats=3 * repeats),
        "roofline": lambda: measure_roofline(pair, repeats=2 * repeats),
        "sweep": lambda: sweep(pair, prompts, settings, repeats=repeats),
    }
    for name in options.names or NAMES:
        write(name, last(measurements[name]()))
        print(f"{name}: written", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m visualizations.record_timings", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="{" + ",".join(NAMES) + "}", help="only these; default: all")
    parser.add_argument("--pair", choices=tuple(CATALOGUE), default=DEFAULT_PAIR)
    parser.add_argument("--prompts", type=int, default=6, help="so many of the built-in ones")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64, help="new tokens of a run, at most")
    parser.add_argument("--gamma", type=int, default=4)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--threads", type=int, help="of torch; default: its own choice, within the cores it may use")
    return parser
