"""A draft that reads its target: true features behind committed tokens, its own behind drafts, whatever happened before."""

from __future__ import annotations

import threading

import pytest
import torch

from specdec.branching import branch, resume
from specdec.decoding.probabilities import probabilities
from specdec.models.cancelling import Cancelled, cancelled_by
from specdec.models.feature_draft import FeatureDraft
from specdec.models.feature_head import feature_head_state, save_feature_head
from specdec.models.pairs import load_models, refuse_damaged_folder
from specdec.models.static import StaticModel
from specdec.models.tapped import TappedModel
from specdec.recording import decode, run, steps
from specdec.settings import EXACT_RULES, BadInput, Settings
from specdec.timing.clock import time_run
from specdec.timing.costs import measure_costs
from specdec.timing.drafters import drafters_of
from specdec.trace.growing import GrowingTrace
from specdec.trace.trace import Trace

PROMPT = [3, 1, 4, 1, 5, 3, 1]
WARM = Settings(temperature=3.0, gamma=4, max_new_tokens=40)  # warm enough for many drafts to be kept


def ids_of(rounds) -> list[int]:
    return [token for round_ in rounds for token in round_.emitted]


def plain_ids(pair, prompt: list[int], settings: Settings) -> list[int]:
    return ids_of(run(pair, prompt, settings.changed(gamma=0)))


def hooks_on(network) -> int:
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in network.modules())


@torch.inference_mode()
def laws_from_scratch(pair, text: list[int], drafts: list[int], sampling) -> torch.Tensor:
    """[drafts, V] of the head, with nothing remembered: one fresh pass of the target over the text, layer by layer."""
    network, head = pair.target.model, pair.draft.model
    hidden = network.model.embed_tokens(torch.tensor([text]))
    rotary = network.model.rotary_emb(hidden, torch.arange(len(text))[None])
    states = [hidden[0]]
    for layer in network.model.layers:
        hidden = layer(hidden, position_embeddings=rotary)
        states.append(hidden[0])
    features = head.mixed(torch.stack([states[tap] for tap in head.taps], dim=1))
    features = torch.cat([torch.zeros_like(features[:1]), features[:-1]])
    said = head.extend(torch.tensor(text), features, head.new_cache(), 0)[-1:]
    laws, tokens = [], list(text)
    for draft in drafts:
        laws.append(probabilities(head.logits(said)[0], sampling))
        tokens.append(draft)
        features = torch.cat([features, said])
        said = head.extend(torch.tensor(tokens), features, head.new_cache(), 0)[-1:]
    return torch.stack(laws)


def expect_laws_from_scratch(pair, prompt: list[int], settings: Settings) -> list:
    text, rounds = list(prompt), []
    for round_ in run(pair, list(prompt), settings):
        drafts = round_.proposal.ids.tolist()
        if len(drafts) > round_.proposal.copied:
            laws = laws_from_scratch(pair, text, drafts, settings.draft_sampling)
            torch.testing.assert_close(round_.proposal.probs, laws, atol=2e-4, rtol=1e-3)
        text += round_.emitted
        rounds.append(round_)
    return rounds


@pytest.mark.parametrize(
    "settings",
    [
        WARM, WARM.changed(rule="block", gamma=6), WARM.changed(temperature=1.0, seed=5),
        WARM.changed(policy="heuristic", gamma=8, seed=2), WARM.changed(policy="entropy", entropy_threshold=4.1),
        WARM.changed(drafter="lookup_then_model", lookup_match=1, seed=3), WARM.changed(temperature=0.0),
    ],
    ids=["warm", "block", "usual", "heuristic", "entropy", "copies", "greedy"],
)  # fmt: skip
def test_every_draft_is_drawn_from_the_law_that_a_calculation_from_scratch_gives(reading_llamas, settings):
    rounds = expect_laws_from_scratch(reading_llamas(), PROMPT, settings)
    if settings.temperature == WARM.temperature:  # the cases that matter occurred
        assert {0, 2} < {round_.accepted for round_ in rounds} and any(r.accepted < r.tested for r in rounds)
    if settings.drafter != "model":
        assert 0 < sum(r.proposal.copied > 0 for r in rounds) < len(rounds)


@pytest.mark.parametrize("prompt", [[5], [5, 6], [(7 * i * i + 3) % 64 for i in range(600)]], ids=["one", "two", "long"])
@pytest.mark.parametrize("kind", [None, StaticModel], ids=["growing", "static"])
def test_so_it_is_behind_a_prompt_of_one_token_and_one_of_several_pieces(reading_llamas, kind, prompt):
    pair = reading_llamas(kind=kind, taps=(1, 3), max_positions=640)
    expect_laws_from_scratch(pair, prompt, WARM.changed(max_new_tokens=16, gamma=3))


def one_place_off(self, first, count, read=FeatureDraft._read):
    return read(self, max(0, first - 1), count)


FAULTS = {
    "features one place off": (FeatureDraft, "_read", one_place_off),
    "features left standing by a rewind": (TappedModel, "rewind", lambda self, length: self._model.rewind(length)),
    "guessed rows never made again": (FeatureDraft, "_true", property(lambda self: self.length)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_calculation_would_notice(reading_llamas, monkeypatch, fault):
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError, match="not close"):
        expect_laws_from_scratch(reading_llamas(), PROMPT, WARM)


@pytest.mark.parametrize("rule", EXACT_RULES)
@pytest.mark.parametrize("drafter", ["model", "lookup_then_model"])
@pytest.mark.parametrize("head", [1, 2])
def test_greedy_speculation_writes_the_plain_text(reading_llamas, head, drafter, rule):
    pair, settings = reading_llamas(head, head), WARM.changed(temperature=0.0, rule=rule, drafter=drafter, max_new_tokens=24)
    assert ids_of(run(pair, PROMPT, settings)) == plain_ids(pair, PROMPT, settings)


def test_after_every_round_all_hold_no_more_than_all_tokens_but_the_last(reading_llamas):
    pair, committed = reading_llamas(), len(PROMPT)
    for round_ in run(pair, PROMPT, WARM):
        committed += len(round_.emitted)
        assert pair.target.length == pair.target.held == committed - 1 >= pair.draft.length


def test_runs_one_after_the_other_know_nothing_of_each_other(reading_llamas):
    pair = reading_llamas()
    first = ids_of(run(pair, PROMPT, WARM))
    given_up = run(pair, [9, 9], WARM.changed(seed=1))
    next(given_up)
    given_up.close()
    plain_ids(pair, [8, 7], WARM)
    assert ids_of(run(pair, PROMPT, WARM)) == first


def test_two_runs_at_once_are_refused(reading_llamas):
    pair = reading_llamas()
    one, other = run(pair, [1, 2, 3], WARM), run(pair, [4, 5, 6], WARM)
    next(one), next(other)
    with pytest.raises(RuntimeError, match="Another run"):
        next(one)
    assert ids_of(other)


@pytest.mark.parametrize("values", [{"gamma": 0}, {"drafter": "prompt_lookup"}], ids=str)
def test_a_run_without_the_head_keeps_nothing(reading_llamas, values):
    pair, met = reading_llamas(), []
    network = pair.target.model
    watch = network.model.layers[0].register_forward_pre_hook(lambda *_: met.append(hooks_on(network) - 1))
    for _ in run(pair, PROMPT, WARM.changed(**values)):
        assert pair.target.held == 0
    assert set(met) == {0}
    for _ in run(pair, PROMPT, WARM):
        assert pair.target.held and met[-1] > 0 and hooks_on(network) == 1
    watch.remove()
    assert pair.target.held == hooks_on(network) == 0


def test_a_run_that_was_cancelled_in_its_prompt_leaves_nothing_behind(reading_llamas):
    pair = reading_llamas(max_positions=700)
    prompt = [(7 * i * i + 3) % 64 for i in range(600)]
    wanted = ids_of(run(pair, prompt, WARM))
    for calls in (3, 9, 11, 14):  # in pieces of the target's reading, then of the head's
        stop, asked = threading.Event(), []

        def check() -> None:
            asked.append(None)
            if len(asked) == calls:
                stop.set()
            cancelled_by(stop)()

        with pytest.raises(Cancelled):
            list(run(pair.cancellable(check), [(5 * i + 1) % 64 for i in range(650)], WARM))
        assert hooks_on(pair.target.model) == 0
        assert ids_of(run(pair.cancellable(lambda: None), prompt, WARM)) == wanted


def test_a_text_that_fills_the_context_stops_there(reading_llamas):
    pair, settings = reading_llamas(max_positions=32), WARM.changed(temperature=0.0)
    trace = decode(pair, " ".join(f"t{i}" for i in range(20)), settings, chat=False)
    assert (len(trace.output.ids), trace.output.stop_reason, trace.limits.draft_length) == (12, "context_full", 32)
    assert list(trace.output.ids) == plain_ids(pair, list(range(20)), settings)[:12]
    with pytest.raises(BadInput, match="b can hold 32 tokens"):
        pair.draft.extend(torch.zeros(40, dtype=torch.int64))


def test_a_run_that_was_ended_goes_on_as_it_would_have(reading_llamas):
    pair, settings = reading_llamas(), WARM.changed(chat=False, temperature=1.5)
    whole = decode(pair, "t3 t1 t4", settings)
    growing = None
    for number, part in enumerate(steps(pair, "t3 t1 t4", settings)):
        if growing is None:
            growing = GrowingTrace(part)
        else:
            growing.add(part)
        if number == 4:
            break
    ended = growing.trace()
    for step in resume(pair, Trace.from_json(ended.to_json())):
        growing.add(step)
    assert growing.trace().output == whole.output

    place = sum(len(round_.positions) for round_ in whole.rounds[:3])
    parts = branch(pair, whole, place)
    child = GrowingTrace(next(parts))
    for step in parts:
        child.add(step)
    assert child.trace().output.ids == whole.output.ids[-len(child.trace().output.ids) :]
    assert [r.accepted for r in child.trace().rounds] == [r.accepted for r in whole.rounds[3:]]


def test_without_its_target_beside_it_it_goes_on_with_what_it_says_itself(reading_llamas):
    """As where a draft step is measured: nothing committed, nothing to read, and a cache that is set back."""
    draft = reading_llamas().draft
    ids = torch.tensor([5, 6, 7, 8, 9])
    whole = draft.extend(ids)
    draft.rewind(0)
    draft.prefill(ids[:3])
    draft.extend(torch.tensor([1, 2]))
    draft.rewind(3)
    assert draft.length == 3
    torch.testing.assert_close(draft.extend(ids[3:]), whole[3:])
    with pytest.raises(ValueError, match="holds 5 tokens"):
        draft.rewind(6)


def test_it_can_be_timed_like_any_draft_and_stands_among_the_drafters(reading_llamas):
    pair = reading_llamas()
    timed = time_run(pair, PROMPT, WARM)
    drafted = [len(round_.proposal) for round_ in run(pair, PROMPT, WARM)]
    assert (timed.drafted, timed.rounds, timed.draft_steps) == (sum(drafted), len(drafted), sum(drafted))
    *_, costs = measure_costs(pair, repeats=1, widths=(1, 2), prefills=(), context=16)
    assert costs.draft_step and pair.target.length == pair.draft.length == 0
    for runner, settings in drafters_of(pair, WARM).values():
        assert len(ids_of(run(runner, PROMPT, settings))) == WARM.max_new_tokens


@pytest.fixture
def head_folder(tmp_path, saved, tiny_llama, tiny_head):
    """A target's folder and one with a head that reads it."""
    words = [f"w{index}" for index in range(64)]
    saved(tmp_path / "big", words, seed=4)
    head = tiny_head(tiny_llama(4), taps=(0, 1, 2), head_ids=range(0, 64, 2))
    save_feature_head(tmp_path / "small", feature_head_state(head), torch.arange(0, 64, 2), head.taps, {"base": "big"})
    return tmp_path


def test_a_heads_folder_makes_a_pair_that_decodes(head_folder):
    pair = load_models(str(head_folder / "big"), str(head_folder / "small"), dtype="float32", device="cpu")
    assert (pair.info.name, pair.info.draft, pair.draft.vocab_size) == ("big+small", "small", 64)
    trace = decode(pair, "w1 w2 w3", WARM, chat=False)
    assert trace.pair.draft == "small" and len(trace.output.ids) == WARM.max_new_tokens
    assert {p.draft_id % 2 for r in trace.rounds for p in r.positions if p.draft_id is not None} == {0}
    assert Trace.from_json(trace.to_json()) == trace


def test_a_head_may_be_named_as_a_draft_and_is_no_target(head_folder):
    refuse_damaged_folder(head_folder / "small", "small")
    with pytest.raises(BadInput, match="of small could not be loaded"):
        load_models(str(head_folder / "small"), None, dtype="float32", device="cpu")


def test_a_damaged_head_is_refused_in_one_sentence_without_its_path(head_folder):
    (shard,) = (head_folder / "small").glob("*.safetensors")
    shard.write_bytes(shard.read_bytes()[:-4])
    with pytest.raises(BadInput, match="small") as refusal:
        load_models(str(head_folder / "big"), str(head_folder / "small"), dtype="float32", device="cpu")
    assert str(head_folder) not in str(refusal.value) and "sha256" in str(refusal.value)
