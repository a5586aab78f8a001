"""Record what the tab "Drafting" opens with, on this machine: python -m visualizations.record_drafting

Nothing else should run meanwhile. With 6 prompts, 5 repeats and 64 tokens it takes about half an hour on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from specdec.models.devices import use_threads
from specdec.models.pairs import load_pair
from specdec.settings import Settings
from specdec.timing.prompts import OWN_KINDS, own_prompts
from visualizations.components.recorded import parsed, recording_parser
from visualizations.drafting import works
from visualizations.drafting.records import FOLDER, NAMES


def main() -> None:
    """Measure what was named, all five by default, and write each record as soon as it is there."""
    options = parsed(_parser(), NAMES)
    use_threads(options.threads)
    pair = load_pair(options.pair)
    settings = Settings.checked(temperature=options.temperature, max_new_tokens=options.tokens, seed=options.seed)
    prompts, repeats = own_prompts()[: options.prompts], options.repeats
    longer = settings.changed(max_new_tokens=4 * options.tokens)
    measurements: dict[str, Callable[[], Iterator[Any]]] = {
        "policy_runs": lambda: works.run_each(pair, prompts[0], settings),
        "policies": lambda: works.compare_policies(pair, prompts, settings, repeats),
        "dependence": lambda: works.dependence(pair, prompts, OWN_KINDS[: options.prompts], longer),
        "drafters": lambda: works.drafters(pair, prompts, settings, repeats),
        "costs": lambda: works.costs(pair, 3 * repeats),
    }
    FOLDER.fill(measurements, options.names)


def _parser() -> argparse.ArgumentParser:
    parser = recording_parser("record_drafting", __doc__, NAMES)
    parser.add_argument("--temperature", type=float, default=0.0, help="of what is timed; laws are looked at with 1")
    parser.add_argument("--seed", type=int, default=0)
    return parser
