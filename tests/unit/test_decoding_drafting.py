"""Where drafts come from: what a small model is fed, and what prompt lookup copies."""

from __future__ import annotations

import pytest
import torch

from specdec.decoding.drafting import ModelDrafter, PromptLookup
from specdec.decoding.lengths import Fixed
from specdec.decoding.probabilities import draw, probabilities
from specdec.models.table import TableModel
from specdec.models.transformers_model import TransformersModel
from specdec.recording import run
from specdec.settings import Sampling, Settings

CPU = torch.device("cpu")
HALF = [0.5] * 8
ALL = Fixed(16)


class Listening(TableModel):
    """A table that remembers what it was fed."""

    def __init__(self, table):
        super().__init__(table)
        self.fed: list[list[int]] = []

    def prefill(self, tokens):
        super().prefill(tokens)
        self.fed.append(tokens.tolist())


def copies(ids: list[int], count: int, longest: int = 3) -> list[int]:
    return PromptLookup(100, CPU, longest=longest).propose(ids, HALF[:count], ALL).ids.tolist()


def test_a_model_draws_each_draft_from_the_very_law_it_reports():
    sampling = Sampling(0.8, 3, 0.9)
    table = torch.rand(6, 6, generator=torch.Generator().manual_seed(0)).double()
    drafter = ModelDrafter(TableModel(table), sampling)
    drafter.prefill([2])
    uniforms = [0.1, 0.9, 0.5, 0.7]
    proposal = drafter.propose([2, 4], uniforms, ALL)
    context = [4, *proposal.ids.tolist()]
    for place, uniform in enumerate(uniforms):
        law = probabilities(table[context[place]].log().float(), sampling)
        torch.testing.assert_close(proposal.probs[place], law)
        assert int(draw(proposal.probs[place], uniform)) == int(proposal.ids[place])
    assert torch.equal(proposal.reported, proposal.probs) and proposal.uniforms == tuple(uniforms)


def test_a_draft_at_temperature_zero_reports_a_one_hot():
    drafter = ModelDrafter(TableModel([0.6, 0.3, 0.1]), Sampling(0))
    drafter.prefill([])
    assert drafter.propose([0], HALF[:2], ALL).probs.tolist() == [[1, 0, 0], [1, 0, 0]]


def test_a_fully_accepted_round_is_followed_by_its_last_draft_and_the_bonus(pair_of):
    """The draft never saw its own last proposal: without catching up its cache would have a hole."""
    law = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    draft = Listening(law)
    pair = pair_of(TableModel(law), draft)
    rounds = run(pair, [0], Settings(gamma=3, max_new_tokens=12))
    next(rounds)
    draft.fed.clear()
    second = next(rounds)
    assert draft.fed == [[3, 0], [1], [2]]
    assert second.accepted == 3


def test_a_rejected_draft_is_forgotten_before_the_replacement_is_fed(pair_of):
    draft = Listening([0, 1, 0])
    rounds = run(pair_of(TableModel([1, 0, 0]), draft), [2], Settings(gamma=2, max_new_tokens=9))
    next(rounds)
    draft.fed.clear()
    next(rounds)
    assert draft.fed == [[0], [1]]


@pytest.mark.parametrize("gamma", [1, 2, 4, 8])
def test_every_draft_of_a_model_that_drafts_for_itself_is_accepted(llama_pair, gamma):
    rounds = list(run(llama_pair(0, 0), [3, 1, 4], Settings(gamma=gamma, temperature=0, max_new_tokens=60)))
    assert all(round_.accepted == len(round_.proposal) for round_ in rounds)
    assert sum(len(round_.emitted) for round_ in rounds) == 60


def test_the_draft_stops_where_its_context_ends(tiny_llama):
    drafter = ModelDrafter(TransformersModel(tiny_llama(max_positions=16)), Sampling())
    assert [drafter.room(committed) for committed in (1, 13, 16, 17, 40)] == [16, 4, 1, 0, 0]
    drafter.prefill(list(range(12)))
    assert len(drafter.propose(list(range(13)), HALF[: drafter.room(13)], ALL)) == 4


def test_a_prompt_longer_than_the_drafts_context_leaves_it_without_room(tiny_llama):
    drafter = ModelDrafter(TransformersModel(tiny_llama(max_positions=16)), Sampling())
    drafter.prefill(list(range(30)))
    assert drafter.room(31) == 0


@pytest.mark.parametrize(
    ("ids", "count", "longest", "expected"),
    [
        ([1, 2, 3, 9, 1, 2, 4, 9, 1, 2], 2, 2, [4, 9]),
        ([1, 2, 3, 9, 1, 2, 4, 9, 1, 2], 2, 3, [4, 9]),
        ([1, 2, 3, 9, 1, 2, 4, 8, 1, 2], 5, 2, [4, 8, 1, 2, 4]),
        ([5, 6, 7, 8, 9, 10, 11, 7, 8], 3, 3, [9, 10, 11]),
        ([7, 1, 2, 3, 8, 3, 5, 1, 2, 3], 1, 3, [8]),
        ([1, 1, 1], 4, 3, [1, 1, 1, 1]),
        ([1, 2, 1, 2, 1, 2], 3, 3, [1, 2, 1]),
        ([1, 2, 3], 3, 3, []),
        ([4], 3, 3, []),
        ([1, 2, 3, 1], 0, 3, []),
    ],
)
def test_lookup_copies_what_followed_the_longest_then_most_recent_match(ids, count, longest, expected):
    assert copies(ids, count, longest) == expected


def test_lookup_reports_a_one_hot_and_draws_nothing():
    proposal = PromptLookup(5, CPU).propose([1, 2, 3, 1, 2], HALF[:2], ALL)
    assert proposal.ids.tolist() == [3, 1] and proposal.uniforms == ()
    assert proposal.probs.tolist() == [[0, 0, 0, 1, 0], [0, 1, 0, 0, 0]]


@pytest.mark.parametrize("rule", ["token", "match", "block"])
def test_without_a_match_nothing_is_drafted_and_nothing_is_counted(table_pair, rule):
    following = torch.eye(8).roll(1, dims=1)
    settings = Settings(drafter="prompt_lookup", rule=rule, temperature=0, max_new_tokens=5)
    rounds = list(run(table_pair(following), [0, 1], settings))
    assert [r.emitted for r in rounds] == [(2,), (3,), (4,), (5,), (6,)]
    assert all(len(r.proposal) == 0 and r.tested == 0 and len(r.target_probs) == 1 for r in rounds)


def test_lookup_finds_what_the_run_itself_wrote(table_pair):
    cycle = torch.eye(3).roll(1, dims=1)
    rounds = list(run(table_pair(cycle), [0], Settings(drafter="prompt_lookup", temperature=0, max_new_tokens=9)))
    assert [token for r in rounds for token in r.emitted] == [1, 2, 0, 1, 2, 0, 1, 2, 0]
    assert sum(r.accepted for r in rounds) > 0


def test_lookup_proposes_nothing_behind_an_end_of_text(table_pair):
    """51 stands for the last word; the end of text follows its first occurrence in the prompt."""
    end, last = 1, 5
    always_ends = [[0, 1, 0, 0, 0, 0]] * 6
    settings = Settings(drafter="prompt_lookup", temperature=0, max_new_tokens=10, gamma=4)
    (only,) = run(table_pair(always_ends, eos_ids=[end]), [0, last, end, 2, 3, 4, last], settings)
    assert only.proposal.ids.tolist() == [end]
    assert (only.emitted, only.stop_reason, only.accepted) == ((end,), "eos", 1)


@pytest.mark.parametrize(("period", "gamma", "tokens", "rounds"), [(1, 4, 20, 4), (2, 8, 27, 3), (3, 6, 28, 4)])
def test_lookup_drafts_a_repetition_as_far_as_it_may(table_pair, period, gamma, tokens, rounds):
    """A target that repeats itself for ever, once seen doing so, fills every round."""
    cycle = torch.eye(8).clone()
    cycle[5 : 5 + period] = cycle[5 : 5 + period].roll(-1, dims=0)
    prompt = [5 + step % period for step in range(12)]
    settings = Settings(drafter="prompt_lookup", temperature=0, gamma=gamma, max_new_tokens=tokens)
    run_ = list(run(table_pair(cycle), prompt, settings))
    assert len(run_) == rounds
    assert [id for r in run_ for id in r.emitted] == [5 + step % period for step in range(12, 12 + tokens)]


def test_lookup_remembers_what_a_fresh_look_at_the_whole_text_finds():
    generator = torch.Generator().manual_seed(4)
    text = torch.randint(0, 4, (300,), generator=generator).tolist()
    grown = PromptLookup(4, CPU)
    for end in range(1, len(text), 3):
        found = grown.propose(text[:end], HALF[:5], ALL).ids.tolist()
        assert found == copies(text[:end], 5) == by_looking_everywhere(text[:end], 5)
    grown.prefill([])
    assert grown.propose([1, 2], HALF[:5], ALL).ids.tolist() == []


def by_looking_everywhere(text: list[int], count: int, longest: int = 3) -> list[int]:
    for size in range(min(longest, len(text) - 1), 0, -1):
        for start in range(len(text) - size - 1, -1, -1):
            if text[start : start + size] == text[-size:]:
                grown = list(text)
                for place in range(start + size, start + size + count):
                    grown.append(grown[place])
                return grown[len(text) :]
    return []


def test_lookup_needs_no_end_of_text(llama_pair):
    prompt = [5, 6, 7, 8, 9, 10, 11, 7, 8]
    pair = llama_pair(0, None)
    settings = Settings(drafter="prompt_lookup", temperature=0, max_new_tokens=15, gamma=3)
    copied, plain = run(pair, prompt, settings), run(pair, prompt, settings.changed(gamma=0))
    ids = [token for r in list(copied) for token in r.emitted]
    assert len(ids) == 15 and ids == [token for r in list(plain) for token in r.emitted]


@pytest.mark.parametrize("budget", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("drafter", ["prompt_lookup", "model"])
def test_a_round_leaves_one_token_of_the_budget_to_the_target(llama_pair, budget, drafter):
    prompt = [10, 11, 12, 13, 10, 14, 15, 10, 11, 12, 13]
    pair = llama_pair(0, 0)
    settings = Settings(drafter=drafter, temperature=0, max_new_tokens=budget, gamma=8)
    plain = [token for r in run(pair, prompt, settings.changed(gamma=0)) for token in r.emitted]
    done = 0
    for round_ in run(pair, prompt, settings):
        assert len(round_.proposal) <= budget - done - 1
        assert list(round_.emitted) == plain[done : done + len(round_.emitted)]
        done += len(round_.emitted)
    assert done == budget == len(plain)
