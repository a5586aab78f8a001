"""What runs write that share their passes follows the target's law; a control shows that a wrong row would be seen."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from specdec.models.batched import share
from specdec.models.batched.packed import extend_packed
from specdec.models.batched.sharing import SharedPair
from specdec.models.transformers_model import TransformersModel
from specdec.recording import run
from specdec.settings import Settings

IDS = 6
FIRST = (0, 1, 2, 3)  # the prompts: one id each, and each has a law of its own
TEXTS = 250
SETTINGS = Settings(gamma=2, max_new_tokens=4, temperature=3.0)  # so warm that no pair of ids is rare


@pytest.fixture
def shared(tiny_llama, pair_of) -> SharedPair:
    target, draft = (TransformersModel(tiny_llama(seed, vocab_size=IDS)) for seed in (0, 1))
    return share(pair_of(target, draft), len(FIRST))


def counted(shared: SharedPair) -> tuple[list[np.ndarray], int]:
    """For each prompt, how often each pair of ids came first, and the most runs that shared a pass."""
    counts = [np.zeros((IDS, IDS), dtype=int) for _ in FIRST]
    most = [0]

    def write(place: int) -> None:
        with torch.inference_mode(), shared.lend() as lent:
            for seed in range(TEXTS):
                text: list[int] = []
                for round_ in run(lent, [FIRST[place]], replace(SETTINGS, seed=1000 * place + seed)):
                    text += round_.emitted
                    most[0] = max(most[0], lent.target.sharing)
                    if len(text) >= 2:
                        break
                counts[place][text[0], text[1]] += 1

    threads = [threading.Thread(target=write, args=(place,), daemon=True) for place in range(len(FIRST))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    return counts, most[0]


def laws_of(shared: SharedPair) -> list[np.ndarray]:
    """The joint law of the two ids behind each prompt, from one reading without a cache."""
    texts = torch.tensor([[first, second] for first in FIRST for second in range(IDS)])
    with torch.inference_mode():
        logits = shared.pair.target.model(texts, use_cache=False).logits.double()
        probs = (logits / SETTINGS.temperature).softmax(-1)
    probs = probs.reshape(len(FIRST), IDS, 2, IDS)
    return [(probs[place, 0, 0, :, None] * probs[place, :, 1, :]).numpy() for place in range(len(FIRST))]


def least_p_value(laws, counts: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    return min(laws.p_value(one, law) for one, law in zip(counts, expected, strict=True))


def test_runs_that_share_their_passes_keep_the_targets_law(laws, shared):
    counts, most = counted(shared)
    assert most > 1, "no pass was shared"
    assert least_p_value(laws, counts, laws_of(shared)) > laws.FALSE_ALARM


def test_rows_given_to_the_wrong_run_would_be_seen(laws, shared, plant):
    plant("models.batched.slot_model.extend_packed", lambda *parts: extend_packed(*parts)[::-1])
    counts, _ = counted(shared)
    assert least_p_value(laws, counts, laws_of(shared)) < laws.FALSE_ALARM
