"""A pair with slots: what a lent pair is, what a run may do to the others, and what its trace tells of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
import torch

from specdec.branching import branch
from specdec.models.batched import SharedPair, share, slot_model
from specdec.models.batched.slot_model import LONGEST_SHARED
from specdec.models.cancelling import Cancelled
from specdec.models.transformers_model import PREFILL_CHUNK, TransformersModel
from specdec.recording import decode, run
from specdec.settings import BadInput, Settings
from specdec.trace.trace import Trace

LONG = 60.0
PROMPT = "t3 t1 t4 t1 t5"
CHOSEN = dict(chat=False, gamma=3, max_new_tokens=12)


@pytest.fixture
def shared(llama_pair) -> SharedPair:
    return share(llama_pair(), 3)


def at_once(*works: Callable[[], object]) -> list[object]:
    """What each gave, in a thread of its own; a fault is given, not raised."""
    given: list[object] = [None] * len(works)

    def kept(index: int) -> None:
        try:
            given[index] = works[index]()
        except Exception as fault:
            given[index] = fault

    threads = [threading.Thread(target=kept, args=(index,), daemon=True) for index in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert not any(thread.is_alive() for thread in threads), "a run waits for ever"
    return given


def test_so_many_are_lent_and_no_more_until_one_is_back(shared):
    assert (shared.slots, shared.reason) == (3, None)
    with shared.lend(), shared.lend():
        with shared.lend() as third:
            with pytest.raises(RuntimeError, match="All 3 slots of a\\+b are lent"):
                shared.lend().__enter__()
        with shared.lend() as another:
            assert another.target is not third.target
            assert another.texts is third.texts


def test_a_pair_that_cannot_be_shared_is_lent_itself_to_one_and_says_why(table_pair, llama_pair, reading_llamas):
    pair = table_pair([2, 1, 1], [1, 1, 1])
    alone = share(pair, 16)
    assert alone.slots == 1 and alone.reason == "The table is no network that several runs could share."
    with alone.lend() as lent:
        assert lent is pair
        with pytest.raises(RuntimeError, match="All 1 slots"):
            alone.lend().__enter__()
    with alone.lend() as lent:
        assert decode(lent, "t0", max_new_tokens=3, chat=False).rounds[0].sharing is None
    assert share(llama_pair(), 1).reason is None
    read = share(reading_llamas(), 16)
    assert read.slots == 1 and read.reason == "a is read by its draft, which needs its passes for itself."


def test_a_lone_run_writes_what_the_pair_itself_does_to_the_last_bit(llama_pair, shared):
    chosen = Settings(gamma=3, max_new_tokens=30)
    own = run(llama_pair(), [3, 1, 4, 1, 5], chosen)
    with shared.lend() as lent:
        for one, other in zip(own, run(lent, [3, 1, 4, 1, 5], chosen), strict=True):
            assert one.emitted == other.emitted and torch.equal(one.target_probs, other.target_probs)
            assert lent.target.sharing == 1


def test_a_draft_that_is_the_target_has_a_cache_of_its_own(llama_pair):
    pair = llama_pair()
    self_drafting = share(replace(pair, draft=TransformersModel(pair.target.model, name="a")), 2)
    assert self_drafting.slots == 2
    with self_drafting.lend() as lent:
        lent.draft.extend(torch.tensor([1, 2]))
        assert (lent.target.length, lent.draft.length) == (0, 2)
        assert decode(lent, PROMPT, **CHOSEN).metrics.acceptance_rate == 1


def test_a_slot_that_was_given_back_is_of_no_use(shared):
    with shared.lend() as lent:
        going_on = run(lent, [1, 2], Settings(max_new_tokens=40))
        next(going_on)
    with shared.lend() as next_run:
        next_run.target.extend(torch.tensor([5]))
        with pytest.raises(RuntimeError, match="given back"):
            next(going_on)
        assert next_run.target.length == 1
    with pytest.raises(RuntimeError, match="given back"):
        lent.target.rewind(0)


def test_a_paused_run_goes_on_where_it_stood(shared):
    chosen = Settings(max_new_tokens=30, seed=2)
    with shared.lend() as lent:
        expected = [round_.emitted for round_ in run(lent, [1, 2], chosen)]
    with shared.lend() as lent, shared.lend() as other:
        paused = run(lent, [1, 2], chosen)
        begun = [next(paused).emitted for _ in range(3)]
        assert len(decode(other, PROMPT, **CHOSEN).output.ids) == 12
        assert begun + [round_.emitted for round_ in paused] == expected


def runs_at_once(shared: SharedPair, barrier: threading.Barrier, *chosen: dict) -> list[object]:
    def decoded(values: dict) -> Trace:
        with shared.lend() as lent:
            barrier.wait(LONG)
            return decode(lent, PROMPT, **CHOSEN | values)

    return at_once(*(lambda values=values: decoded(values) for values in chosen))


def test_a_fault_in_one_run_ends_that_run_alone(shared, llama_pair, monkeypatch):
    barrier = threading.Barrier(3)

    def bad() -> None:
        with shared.lend() as lent:
            barrier.wait(LONG)
            for _ in range(8):
                lent.target.extend(torch.tensor([1, 2]))
            lent.target.extend(torch.tensor([10**6]))

    def good(seed: int) -> tuple[int, ...]:
        with shared.lend() as lent:
            barrier.wait(LONG)
            return decode(lent, PROMPT, **CHOSEN, seed=seed).output.ids

    fault, *texts = at_once(bad, lambda: good(1), lambda: good(2))
    assert isinstance(fault, IndexError)
    assert texts == [decode(llama_pair(), PROMPT, **CHOSEN, seed=seed).output.ids for seed in (1, 2)]


def test_a_full_context_is_refused_for_that_run_alone(shared):
    with shared.lend() as lent, shared.lend() as other:
        lent.target.prefill(torch.zeros(250, dtype=torch.int64))
        with pytest.raises(BadInput, match="256 tokens; 250 \\+ 7"):
            lent.target.extend(torch.zeros(7, dtype=torch.int64))
        assert other.target.extend(torch.tensor([1])).shape == (1, 64)


def test_a_check_ends_its_own_run_amid_a_prompt_and_meets_no_others_passes(tiny_llama, pair_of):
    count = 2 * PREFILL_CHUNK
    shared = share(pair_of(TransformersModel(tiny_llama(max_positions=count + 1), name="a")), 2)
    ids = torch.arange(count) % 64
    begun, threads = threading.Event(), set()

    def stopped() -> None:
        asked = []

        def check() -> None:
            threads.add(threading.get_ident())
            asked.append(None)
            begun.set()
            if len(asked) == 5:  # between two layers of the second piece
                raise Cancelled

        with shared.lend() as lent:
            own = threading.get_ident()
            try:
                lent.cancellable(check).target.prefill(ids)
            finally:
                assert threads == {own}

    def decoding() -> int:
        with shared.lend() as lent:
            assert begun.wait(LONG)
            for step in range(20):
                lent.target.extend(ids[step : step + 1])
            return lent.target.length

    assert [type(one) if isinstance(one, Exception) else one for one in at_once(stopped, decoding)] == [Cancelled, 20]
    assert not any(layer._forward_pre_hooks for layer in shared.pair.target.model.modules())


def test_short_prompts_are_read_together_and_long_ones_alone(pair_of, tiny_llama, monkeypatch):
    shared = share(pair_of(TransformersModel(tiny_llama(max_positions=512), name="a")), 3)
    barrier, extend = threading.Barrier(3), slot_model.extend_packed
    read: list[int] = []  # lengths of the prompts in common passes

    def watched(network, rows):
        read.extend(len(row.tokens) for row in rows if not row.scored)
        return extend(network, rows)

    def reading(length: int) -> torch.Tensor:
        with shared.lend() as lent:
            for _ in range(10):
                barrier.wait(LONG)
                lent.target.rewind(0)
                lent.target.prefill(torch.arange(length) % 64)
            return lent.target.extend(torch.tensor([0]))

    def alone(length: int) -> torch.Tensor:
        shared.pair.target.rewind(0)
        shared.pair.target.prefill(torch.arange(length) % 64)
        return shared.pair.target.extend(torch.tensor([0]))

    monkeypatch.setattr(slot_model, "extend_packed", watched)
    lengths = (30, LONGEST_SHARED, LONGEST_SHARED + 1)
    together = at_once(*(partial(reading, length) for length in lengths))
    assert set(read) == {30, LONGEST_SHARED}
    for length, logits in zip(lengths, together):
        torch.testing.assert_close(logits, alone(length), atol=2e-5, rtol=1e-4)


def test_a_trace_tells_how_many_shared_each_pass_of_the_target(shared):
    barrier = threading.Barrier(3)
    traces = runs_at_once(shared, barrier, dict(seed=1), dict(seed=2), dict(gamma=0))
    told = [round_.sharing for trace in traces for round_ in trace.rounds]
    assert min(told) >= 1 and 1 < max(told) <= 3
    whole = traces[0].to_dict()
    assert Trace.from_json(traces[0].to_json()) == traces[0]
    for wrong in (0, -5, 2**70, 1.5, "2"):
        whole["rounds"][0]["sharing"] = wrong
        with pytest.raises(BadInput):
            Trace.from_json(json.dumps(whole))


def test_a_run_goes_on_from_the_middle_of_another_in_a_slot_too(shared):
    with shared.lend() as lent:
        parent = decode(lent, PROMPT, **CHOSEN)
    with shared.lend() as lent:
        first = len(parent.rounds[0].positions)
        start, *steps = branch(lent, parent, first)
        ids = [p.token_id for step in steps for p in step.round.positions if p.kind != "discarded"]
    assert ids == list(parent.output.ids[start.resumed.written :])
