"""A pair of real models whose every pass takes a while, for tests of what can end it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from specdec.models.pairs import Pair

PASS_SECONDS = 0.2
# 8,000 tokens: at 256 a pass, either model reads them for more than 6 seconds.
LONG_PROMPT = "t3 t1 " * 4_000
# The message alone: without any template a page in chat mode would refuse the models.
CHAT_TEMPLATE = "{{ messages[0]['content'] }}"


def slow_pair(
    pair_of: Callable[..., Pair], tiny_llama: Callable[..., Any], *, target: float = PASS_SECONDS, draft: float = PASS_SECONDS
) -> Pair:
    """Two small random Llamas. target, draft: seconds added to every pass."""
    from specdec.models.transformers_model import TransformersModel

    models = []
    for seed, seconds in ((0, target), (1, draft)):
        model = tiny_llama(seed, max_positions=8_192, hidden_size=16, num_hidden_layers=1, num_attention_heads=2)
        model.register_forward_pre_hook(lambda *_, seconds=seconds: time.sleep(seconds))
        models.append(TransformersModel(model, name=f"slow {seed}"))
    pair = pair_of(*models)
    pair.tokenizer.chat_template = CHAT_TEMPLATE
    return pair
