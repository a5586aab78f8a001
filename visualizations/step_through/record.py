"""Record the example runs with the real models: python -m visualizations.record [key ...]"""

from __future__ import annotations

from functools import cache

from specdec.models.pairs import load_pair
from specdec.recording import decode
from visualizations.step_through.examples import examples


def main(keys: list[str]) -> None:
    """Decode the named examples (all when none is named) and write their traces."""
    pair_of = cache(lambda key: load_pair(key, dtype="float32", device="cpu"))
    for example in examples():
        if keys and example.key not in keys:
            continue
        trace = decode(pair_of(example.choice.key), example.prompt, example.settings)
        example.recording.parent.mkdir(exist_ok=True)
        example.recording.write_text(trace.to_json() + "\n", "utf-8")
        print(f"{example.key}: {trace.metrics.emitted} tokens, alpha {trace.metrics.acceptance_rate}")
