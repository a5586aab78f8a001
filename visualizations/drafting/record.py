"""Record what the tab "Drafting" opens with, on this machine: python -m visualizations.record_drafting

Nothing else should run meanwhile. With 6 prompts, 5 repeats and 64 tokens it takes about half an hour on two cores.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable
from typing import Any

from specdec.models.devices import use_threads
from specdec.models.pairs import CATALOGUE, DEFAULT_PAIR, load_pair
from specdec.settings import Settings
from specdec.timing.prompts import OWN_KINDS, own_prompts
from visualizations.drafting import works
from visualizations.drafting.records import NAMES, write


def main() -> None:
    """Measure what was named, all five by default, and write each record as soon as it is there."""
    parser = _parser()
    options = parser.parse_args()
    for name in options.names:
        if name not in NAMES:
            parser.error(f"there is no measurement {name}; they are {', '.join(NAMES)}")
    use_threads(options.threads)
    pair = load_pair(options.pair)
    settings = Settings.checked(temperature=options.temperature, max_new_tokens=options.tokens, seed=options.seed)
    prompts, repeats = own_prompts()[: options.prompts], options.repeats
    longer = settings.changed(max_new_tokens=4 * options.tokens)
    measurements: dict[str, Callable[[], Any]] = {
        "policy_runs": lambda: works.run_each(pair, prompts[0], settings),
        "policies": lambda: works.compare_policies(pair, prompts, settings, repeats),
        "dependence": lambda: works.dependence(pair, prompts, OWN_KINDS[: options.prompts], longer),
        "drafters": lambda: works.drafters(pair, prompts, settings, repeats),
        "costs": lambda: works.costs(pair, 3 * repeats),
    }
    for name in options.names or NAMES:
        last = deque(measurements[name](), maxlen=1)
        write(name, last.pop())
        print(f"{name}: written", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m visualizations.record_drafting", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="{" + ",".join(NAMES) + "}", help="only these; default: all")
    parser.add_argument("--pair", choices=tuple(CATALOGUE), default=DEFAULT_PAIR)
    parser.add_argument("--prompts", type=int, default=6, help="so many of the built-in ones")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64, help="new tokens of a run, at most")
    parser.add_argument("--temperature", type=float, default=0.0, help="of what is timed; laws are looked at with 1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="of torch; default: its own choice, within the cores it may use")
    return parser
