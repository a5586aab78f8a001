"""A head that reads its target drafts from laws that change with every round; the text keeps the target's law."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext

import pytest
import torch

from specdec.models.feature_draft import FeatureDraft
from specdec.models.table import TableModel
from specdec.recording import run
from specdec.settings import EXACT_RULES, Settings

TARGET = [[0.8, 0.15, 0.05], [0.05, 0.1, 0.85], [0.1, 0.8, 0.1]]
PROMPT = [0, 1, 2, 0, 1]  # something to copy from the first token on
TOKENS = 600


class ReadTable(TableModel):
    """A table whose hidden states are any numbers, others at every place."""

    def __init__(self, table, layers: int, width: int):
        super().__init__(table)
        self._states = torch.randn(TOKENS + 50, layers, width, generator=torch.Generator().manual_seed(1))

    @property
    def held(self) -> int:
        return self.length

    def features(self, start: int, stop: int) -> torch.Tensor:
        return self._states[start:stop]

    def keeping(self):
        return nullcontext()


@pytest.fixture(scope="module")
def read_table(tiny_llama, tiny_head, pair_of):
    head = tiny_head(tiny_llama(5, vocab_size=3, max_positions=TOKENS + 50), 2)
    target = ReadTable(TARGET, len(head.taps), head.config.hidden_size)
    return pair_of(target, FeatureDraft(head, target, name="b", vocab_size=3))


def least_p_value(laws, pair, settings: Settings) -> float:
    """One long text: what followed each token, against the target's row. Independent given the row."""
    ids = PROMPT[-1:] + [token for round_ in run(pair, PROMPT, settings) for token in round_.emitted]
    follow = Counter(zip(ids, ids[1:]))
    return min(laws.p_value([follow[a, b] for b in range(3)], TARGET[a]) for a in range(3))


@pytest.mark.parametrize(
    ("rule", "drafter"), [*((rule, "model") for rule in EXACT_RULES), ("token", "lookup_then_model")]
)
def test_every_exact_rule_keeps_the_targets_law(laws, read_table, rule, drafter):
    settings = Settings(rule=rule, drafter=drafter, lookup_match=6, gamma=4, policy="heuristic", max_new_tokens=TOKENS)
    assert least_p_value(laws, read_table, settings) > laws.FALSE_ALARM


def test_a_rule_that_keeps_too_many_drafts_is_caught(laws, read_table):
    """Control: these laws are far enough apart for a bias to show in as many tokens."""
    settings = Settings(rule="lenient", lenience=0.2, gamma=4, max_new_tokens=TOKENS)
    assert least_p_value(laws, read_table, settings) < laws.FALSE_ALARM
