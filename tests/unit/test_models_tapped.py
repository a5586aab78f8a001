"""A target that keeps hidden states: which ones, for which tokens, and nothing at all unless somebody asks.

On a machine with CUDA the static cache's passes are captured graphs here too.
"""

from __future__ import annotations

import copy
import threading

import pytest
import torch

from specdec.models.cancelling import CancellableModel, Cancelled, cancelled_by
from specdec.models.rows import Rows
from specdec.models.static import StaticModel
from specdec.models.tapped import TappedModel
from specdec.models.transformers_model import PREFILL_CHUNK, TransformersModel

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LAYERS, PLACES = 3, (0, 1, 2, 3)
LONG = 2 * PREFILL_CHUNK + 7


@pytest.fixture(scope="module")
def network(tiny_llama):
    return tiny_llama(max_positions=LONG + 40, num_hidden_layers=LAYERS).to(DEVICE)


@pytest.fixture(params=[TransformersModel, StaticModel], ids=["growing", "static"])
def kind(request):
    return request.param


def some_ids(count: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 64, (count,), generator=torch.Generator().manual_seed(seed)).to(DEVICE)


@torch.no_grad()
def states(network, ids: torch.Tensor) -> torch.Tensor:
    """[n, places, width] by a fresh reading of the whole text; the last layer's come after the final norm here."""
    twin = copy.deepcopy(network)  # `transformers` never takes the hooks away again that it asks with
    hidden = twin(input_ids=ids[None], use_cache=False, output_hidden_states=True).hidden_states
    return torch.stack([layer[0] for layer in hidden], dim=1)


@torch.no_grad()
def expect_states(network, model: TappedModel, text: torch.Tensor) -> None:
    assert model.held == model.length == len(text)
    kept = model.features(0, len(text)).clone()
    kept[:, -1] = network.model.norm(kept[:, -1])
    torch.testing.assert_close(kept, states(network, text), atol=1e-4, rtol=1e-4)


def hooks_on(network) -> int:
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in network.modules())


def test_what_is_kept_is_what_a_fresh_reading_says_wherever_the_model_was_rewound_to(network, kind):
    model, dice, text = TappedModel(kind(network), PLACES), torch.Generator().manual_seed(1), some_ids(20)
    with model.keeping():
        model.prefill(text)
        for turn in range(20):
            width, back = torch.randint(1, 6, (2,), generator=dice).tolist()
            more = some_ids(width, turn)
            model.extend(more)
            text = torch.cat([text, more])
            expect_states(network, model, text)
            text = text[: len(text) - min(back, len(text))]
            model.rewind(len(text))
            assert model.held == len(text)


def test_a_prompt_in_several_pieces_and_one_after_the_cache_was_emptied(network, kind):
    model = TappedModel(kind(network), PLACES)
    with model.keeping():
        model.prefill(some_ids(LONG))
        expect_states(network, model, some_ids(LONG))
        model.rewind(0)
        assert model.held == 0
        model.prefill(some_ids(0))
        model.extend(some_ids(1, 3))
        expect_states(network, model, some_ids(1, 3))


def test_passes_with_and_without_taps_of_the_same_widths_take_turns(network, kind):
    """A captured graph of the one kind would be wrong for the other."""
    model, plain = TappedModel(kind(network), PLACES), kind(network)
    for seed in range(3):
        ids = some_ids(4, seed)
        for one in (model, plain):
            one.rewind(0)
        assert torch.equal(model.extend(ids), plain.extend(ids)) and model.held == 0
        with model.keeping():
            model.rewind(0)
            logits = torch.cat([model.extend(ids[:1]), model.extend(ids[1:])])
            expect_states(network, model, ids)
        torch.testing.assert_close(logits, network(input_ids=ids[None], use_cache=False).logits[0].float(), atol=1e-4, rtol=1e-4)


def test_unless_somebody_asks_nothing_is_kept_and_no_pass_meets_a_hook(network, kind):
    model, met = TappedModel(kind(network), PLACES), []
    watch = network.model.layers[0].register_forward_pre_hook(lambda *_: met.append(hooks_on(network) - 1))
    model.prefill(some_ids(5))
    model.extend(some_ids(2))
    assert set(met) == {0} and model.held == 0
    with model.keeping():
        model.rewind(0)
        model.prefill(some_ids(5))
        assert met[-1] == len(PLACES) and hooks_on(network) == 1 and model.held == 5
    watch.remove()
    assert model.held == 0
    with pytest.raises(ValueError, match="none from"):
        model.features(0, 5)


def test_who_asks_in_the_middle_of_a_text_is_told_nothing_rather_than_something_wrong(network, kind):
    model = TappedModel(kind(network), PLACES)
    model.extend(some_ids(3))
    with model.keeping():
        model.extend(some_ids(2))
        assert (model.length, model.held) == (5, 0)
        model.rewind(0)
        model.extend(some_ids(2))
        with model.keeping():
            pass
        expect_states(network, model, some_ids(2))
        with pytest.raises(ValueError, match="none from 1 to 3"):
            model.features(1, 3)


def test_a_prompt_cancelled_in_its_second_piece_is_forgotten(network, kind):
    stop, asked = threading.Event(), []
    model = TappedModel(kind(network), PLACES)

    def check() -> None:
        asked.append(None)
        if len(asked) == LAYERS + 3:
            stop.set()
        cancelled_by(stop)()

    with model.keeping():
        with pytest.raises(Cancelled):
            CancellableModel(model, check).prefill(some_ids(LONG))
        assert hooks_on(network) == 0
        model.rewind(0)
        model.prefill(some_ids(LONG, 1))
        expect_states(network, model, some_ids(LONG, 1))


def test_rows_come_and_go_at_the_end():
    rows, kept = Rows(), torch.empty(0, 2)
    for step in range(30):
        more = torch.rand(step % 5, 2)
        rows.append(more)
        kept = torch.cat([kept, more])[: 40 - step]
        rows.cut(40 - step)
        assert len(rows) == len(kept) and torch.equal(rows.read(0, len(kept)), kept)
    for start, stop in ((0, len(kept) + 1), (-1, 1), (2, 1)):
        with pytest.raises(ValueError, match="none from"):
            rows.read(start, stop)
