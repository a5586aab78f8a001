"""The default pair writes in float32 what its target writes alone, here and in `transformers`.

One pass over several tokens and one pass a token use other matrix kernels, whose logits differ in their
last bits. Where the two best tokens are closer than `NEAR_TIE` either may win: such a divergence is
reported and ends the comparison; any other one is a fault.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache

import pytest
import torch

from specdec.branching import branch
from specdec.models.pairs import Pair
from specdec.recording import decode, run
from specdec.settings import Settings

NEW_TOKENS = 24
NEAR_TIE = 1e-3
PROMPTS = [
    "Explain why the sky is blue.",
    "Write a Python function that reverses a list.",
    "Translate 'good morning' into French.",
    "What is 12 times 12?",
    "Repeat after me: the cat sat on the mat. the cat sat on the mat.",
    "Who wrote Hamlet?",
]


@pytest.fixture(scope="module")
def decoded(default_pair: Pair) -> Callable[..., list[int]]:
    """decoded(prompt, **settings): the greedy text of a prompt, written once for all tests that compare with it."""

    @cache
    def text(prompt: str, **settings: object) -> list[int]:
        settings = Settings(temperature=0, max_new_tokens=NEW_TOKENS, **settings)
        return [token for round_ in run(default_pair, default_pair.encode(prompt, chat=True), settings) for token in round_.emitted]

    return text


def generated(pair: Pair, ids: list[int], **options) -> list[int]:
    out = pair.target.model.generate(
        torch.tensor([ids]), do_sample=False, max_new_tokens=NEW_TOKENS, pad_token_id=0, **options
    )
    return out[0, len(ids) :].tolist()


def assert_same_text(pair: Pair, prompt: list[int], ours: Sequence[int], theirs: Sequence[int]) -> None:
    """Equal, or parted at a near-tie of the target's two best logits."""
    if list(ours) == list(theirs):
        return
    place = next(i for i, (a, b) in enumerate(zip([*ours, -1], [*theirs, -1])) if a != b)
    with torch.inference_mode():
        logits = pair.target.model(torch.tensor([[*prompt, *ours[:place]]])).logits[0, -1]
    best, second = logits.topk(2).values.tolist()
    assert best - second < NEAR_TIE, f"parted at {place} with a gap of {best - second:.2g}: {ours} / {theirs}"
    warnings.warn(f"near-tie at token {place}: the two best logits are {best - second:.1g} apart", stacklevel=2)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_speculation_equals_plain_decoding_and_generate(default_pair, decoded, prompt):
    ids = default_pair.encode(prompt, chat=True)
    plain = decoded(prompt, gamma=0)
    assert_same_text(default_pair, ids, plain, generated(default_pair, ids))
    assert_same_text(default_pair, ids, decoded(prompt, gamma=4), plain)


@pytest.mark.parametrize("prompt", PROMPTS[:3])
def test_speculation_equals_assisted_generation_with_the_same_draft(default_pair, decoded, prompt):
    ids = default_pair.encode(prompt, chat=True)
    theirs = generated(default_pair, ids, assistant_model=default_pair.draft.model)
    assert_same_text(default_pair, ids, decoded(prompt, gamma=4), theirs)


@pytest.mark.parametrize("prompt", PROMPTS[4:])
@pytest.mark.parametrize("way", [{"rule": "match"}, {"rule": "block"}, {"drafter": "prompt_lookup", "gamma": 8}], ids=str)
def test_every_exact_rule_and_prompt_lookup_write_the_plain_text(default_pair, decoded, prompt, way):
    ids = default_pair.encode(prompt, chat=True)
    assert_same_text(default_pair, ids, decoded(prompt, **way), decoded(prompt, gamma=0))


def test_logits_read_through_the_cache_are_those_of_a_full_reading(default_pair):
    """Over several rounds with rejections, for the target and the draft alike."""
    text = default_pair.encode("Tell me a short story about a fox.", chat=True)
    rewound = 0
    for round_ in run(default_pair, list(text), Settings(gamma=4, seed=3, max_new_tokens=24)):
        drafts = round_.proposal.ids.tolist()
        target, draft = default_pair.target, default_pair.draft
        models = [(target, round_.target_probs), (draft, round_.proposal.probs)][: 1 + bool(drafts)]
        for model, laws in models:
            with torch.inference_mode():
                logits = model.model(torch.tensor([[*text, *drafts]]), use_cache=False).logits[0, len(text) - 1 :]
            expected = logits[: len(laws), : model.vocab_size].log_softmax(-1)
            possible = expected.isfinite() & (expected > -15)
            difference = (laws[: len(expected)].log() - expected)[possible].abs().max()
            assert difference < 1e-3
        text += round_.emitted
        rewound += round_.accepted < len(drafts)
    assert rewound > 0, "no draft was rejected, so nothing was rewound"


@pytest.mark.parametrize("settings", [{}, {"policy": "entropy", "gamma": 8}, {"drafter": "lookup_then_model"}], ids=str)
def test_a_branch_without_a_change_repeats_its_parent_from_any_round(default_pair: Pair, settings: dict) -> None:
    parent = decode(default_pair, PROMPTS[0], **{"temperature": 0.8, "seed": 5, "max_new_tokens": 20} | settings)
    firsts = [0]
    for round_ in parent.rounds:
        firsts.append(firsts[-1] + len(round_.positions))
    for number in (1, len(parent.rounds) // 2, len(parent.rounds) - 1):
        start, *steps = branch(default_pair, parent, firsts[number])
        branched = [p.token_id for step in steps for p in step.round.positions if p.kind != "discarded"]
        assert branched == list(parent.output.ids[start.resumed.written :])
