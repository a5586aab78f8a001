"""The sampling test through the whole decoding loop, on two tables in the models' place."""

from __future__ import annotations

import torch
from torch import Tensor

from specdec.decoding.drafting import ModelDrafter
from specdec.decoding.loop import speculative
from specdec.decoding.stopping import Stopping
from specdec.exactness.sampling_test import SamplingTest, judged
from specdec.models.cancelling import CancellableModel, Check, go_on
from specdec.models.table import TableModel
from specdec.settings import MISREPORTING_RULES, Sampling, Settings


def loop_test(
    target: Tensor,
    draft: Tensor,
    settings: Settings,
    rounds: int,
    *,
    drafted: Sampling = Sampling(),
    check: Check = go_on,
) -> SamplingTest:
    """Decode `rounds` rounds with the rule, seed and gamma of `settings` and test each round's first token.

    The tables [V] are the same at every place, so the first tokens of the rounds are independent draws of
    one law. drafted: how the drafter samples its table; it tells the rule so, except under the
    `MISREPORTING_RULES`. check: called before every pass; what it raises ends the test.
    """
    reported = Sampling() if settings.rule in MISREPORTING_RULES else drafted
    drafter = ModelDrafter(TableModel(draft), drafted, reported)
    stopping = Stopping(eos_ids=frozenset(), budget=rounds * (settings.gamma + 1) + settings.gamma)
    ids, accepted = [], []
    loop = speculative(CancellableModel(TableModel(target), check), drafter, [0], settings, stopping)
    for _, round_ in zip(range(rounds), loop):
        ids.append(round_.emitted[0])
        accepted.append(round_.accepted > 0)
    return judged(settings.rule, target, torch.tensor(ids), torch.tensor(accepted), check=check)
