"""Every drafter that a pair can have, side by side."""

from __future__ import annotations

import pytest
import torch

from specdec.exactness.theory import best_shared, expected_tokens, shared_speedup
from specdec.models.student import TrimmedHead
from specdec.settings import BadInput, Settings
from specdec.timing.drafters import Drafters, measure_drafters
from specdec.timing.records import from_json

CYCLE = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


def last(growing) -> Drafters:
    *_, record = growing
    return record


def test_drafters_of_tables_cost_and_give_what_they_should(stub_pair):
    pair = stub_pair(CYCLE, CYCLE, step=0.005, verify=0.020)
    settings = Settings(chat=False, gamma=4, max_new_tokens=50)
    record = last(measure_drafters(pair, ["t0 t1", "t2"], settings, repeats=2))
    points = {point.key: point for point in record.points}
    assert list(points) == ["model", "prompt_lookup", "lookup_then_model"] and record.done == record.total == 16
    assert (points["model"].cost_ratio, points["prompt_lookup"].cost_ratio) == (pytest.approx(0.25), 0.0)
    assert points["model"].alpha == 1.0 and points["model"].tokens_per_round == pytest.approx(5.0)
    assert points["model"].speedup == pytest.approx(5 / (4 * 0.25 + 1), rel=1e-6)
    assert points["lookup_then_model"].steps_per_round < points["model"].steps_per_round
    assert points["lookup_then_model"].speedup > points["model"].speedup
    assert from_json(Drafters, record.to_json()) == record


def test_the_target_drafts_for_itself_with_a_cache_of_its_own(llama_pair):
    record = last(measure_drafters(llama_pair(0, 1), ["t0 t1"], Settings(chat=False, gamma=2, max_new_tokens=12), repeats=1))
    points = {point.key: point for point in record.points}
    assert points["target"].alpha > 0.99 and points["target"].tokens_per_round > 2.5


def test_a_pair_without_a_draft_is_refused(table_pair):
    with pytest.raises(BadInput):
        next(measure_drafters(table_pair(CYCLE), ["t0"]))


def test_a_cut_head_scores_the_lowest_of_its_ids(default_pair):
    """Of the bundled student: what it still scores is as before, and everything else is impossible."""
    from specdec.models.student import load_student

    target = default_pair.target.model
    whole, cut = load_student(target), load_student(target, head=4096)
    assert isinstance(cut.lm_head, TrimmedHead)
    assert cut.lm_head.head_ids.tolist() == whole.lm_head.head_ids[:4096].tolist()
    ids = torch.tensor([[1, 504, 6376]])
    with torch.inference_mode():
        before, after = whole(ids).logits[0, -1], cut(ids).logits[0, -1]
    kept = cut.lm_head.head_ids
    assert torch.isfinite(after).sum() == 4096
    torch.testing.assert_close(after[kept], before[kept], rtol=2e-2, atol=5e-2)


def test_sharing_the_machine_uses_up_the_spare_arithmetic():
    """Measured passes of 34, 37, 41, 47, 58 ms over 1, 5, 8, 16, 32 tokens; a draft step costs .07 of the first."""
    points = [(1, 34.0), (5, 37.0), (8, 41.0), (16, 47.0), (32, 58.0), (64, 80.0)]

    def target(tokens: float) -> float:
        for (left, low), (right, high) in zip(points, points[1:]):
            if tokens <= right:
                return low + (high - low) * (tokens - left) / (right - left)
        return points[-1][1] * tokens / points[-1][0]

    alone = shared_speedup(0.5, 2, 1, 0.07 * 34, target)
    assert alone == pytest.approx(expected_tokens(0.5, 2) * 34 / (2 * 0.07 * 34 + 35.5))
    best = [best_shared(0.5, batch, 0.07 * 34, target, most_tokens=64) for batch in (1, 2, 4, 8, 16, 32)]
    assert best[0][0] == 2 and best[0][1] == pytest.approx(1.47, abs=0.01)
    assert all(later[1] <= earlier[1] for earlier, later in zip(best, best[1:]))
    assert shared_speedup(0.5, 4, 32, 0.07 * 34, target) < 1
    assert best_shared(0.1, 32, 0.07 * 34, target, most_tokens=64) == (0, 1.0)
