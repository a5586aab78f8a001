"""Pairs of a target and a draft: loading, and the refusals with their reasons.

Importing this module costs no torch; loading does.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from specdec.models.cancelling import CancellableModel, Check, go_on
from specdec.models.catalogue import (
    CATALOGUE,
    DEFAULT_PAIR,
    SMOLLM2,
    STUDENT,
    is_folder,
    is_head_folder,
    key_of,
    located,
    names_of,
)
from specdec.models.weights import (
    Progress,
    Report,
    WeightsUnavailable,
    default_target_folder,
    hub_is_reachable,
    one_line,
    silent,
)
from specdec.settings import BadInput, Phrase, choice, is_unicode
from specdec.trace.record import PairInfo

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from specdec.models.feature_draft import FeatureDraft
    from specdec.models.interface import LanguageModel
    from specdec.models.static import StaticModel
    from specdec.models.tapped import TappedModel
    from specdec.models.transformers_model import TransformersModel
    from specdec.trace.tokens import TokenTexts

    Loaded = tuple[PreTrainedModel, PreTrainedTokenizerBase]

MAX_PROMPT_CHARACTERS = 100_000
_JSON_FILES = (
    "config.json", "generation_config.json", "model.safetensors.index.json", "tokenizer.json", "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "vocab.json",
)  # fmt: skip


class PairRefused(BadInput):
    """Two models that can't work together; the message names both and says why."""


@dataclass(frozen=True)
class Pair:
    """A target and a draft, loaded. draft is None when only prompt lookup can draft for the target.

    check: to be called by long work between its steps, where that isn't the models' passes; see `cancellable`.
    """

    info: PairInfo
    target: LanguageModel
    draft: LanguageModel | None
    tokenizer: PreTrainedTokenizerBase
    eos_ids: frozenset[int]
    dtype: str
    check: Check = go_on

    @functools.cached_property
    def texts(self) -> TokenTexts:
        from specdec.trace.tokens import TokenTexts

        return TokenTexts(self.tokenizer)

    def cancellable(self, check: Check) -> Pair:
        """The same pair for one piece of work, which `check` can end: it is called before every pass of either
        model and amid the reading of a prompt, and what it raises ends the work there."""
        draft = CancellableModel(self.draft, check) if self.draft else None
        return self.with_models(CancellableModel(self.target, check), draft, check)

    def with_models(self, target: LanguageModel, draft: LanguageModel | None, check: Check) -> Pair:
        """The same pair with these in place of its models; token texts that were looked up once stay known."""
        changed = replace(self, target=target, draft=draft, check=check)
        vars(changed)["texts"] = self.texts
        return changed

    def encode(self, prompt: str, *, chat: bool) -> list[int]:
        """Prompt ids; in chat mode the template's system turn and assistant marker are around it.

        Names of control tokens in the prompt are text, and raw text is left open at its end: see `encoding`.
        Raises `BadInput` for a prompt that is empty, no text, or fills the context, and for a missing chat template.
        """
        from specdec.models.encoding import encode

        if not isinstance(prompt, str) or not prompt:
            raise BadInput("The prompt is empty; type some text.")
        if len(prompt) > MAX_PROMPT_CHARACTERS:
            raise BadInput(
                "The prompt has {count:,} characters; the limit is {limit:,}.",
                count=len(prompt), limit=MAX_PROMPT_CHARACTERS,
            )
        if not is_unicode(prompt):
            raise BadInput("The prompt holds half a character (a lone surrogate), which is no text.")
        if chat and not self.tokenizer.chat_template:
            raise BadInput("{target} has no chat template; choose raw text.", target=self.info.target)
        ids = encode(self.tokenizer, prompt, chat=chat)
        if not ids:
            raise BadInput("The prompt holds no token; type some text.")
        if len(ids) >= self.target.max_length:
            raise BadInput(
                "The prompt has {count} tokens; {target} can hold {most}.",
                count=len(ids), target=self.info.target, most=self.target.max_length,
            )
        return ids


def load_pair(
    key: str = DEFAULT_PAIR, *, dtype: str | None = None, device: str | None = None, progress: Report = silent
) -> Pair:
    """Load a pair of the catalogue.

    dtype: 'auto', 'float32', 'bfloat16' or 'float16'; 'auto' is bfloat16 where this device is fast
    at it. device: 'auto' (cuda, mps, cpu), or a torch device. None: what the catalogue says, 'auto' as a
    rule. Raises `BadInput`, `WeightsUnavailable` or `PairRefused`.
    """
    spec = CATALOGUE[choice("pair", key, tuple(CATALOGUE))]
    dtype = spec.dtype if dtype is None else dtype
    device = spec.device if device is None else device
    return load_models(spec.target, spec.draft, name=key, dtype=dtype, device=device, progress=progress)


def load_models(
    target: str,
    draft: str | None,
    *,
    name: str | None = None,
    dtype: str = "auto",
    device: str = "auto",
    progress: Report = silent,
) -> Pair:
    """Load any two causal LMs that share a tokenizer: Hub ids, local folders, `SMOLLM2`, `STUDENT`.

    draft None leaves prompt lookup as the only drafter; it may also be the folder of a head that reads its target.
    A folder is called by its last name, in the pair's info and in every refusal. dtype, device and what is raised: see `load_pair`.
    """
    from specdec.models.devices import pick_device, pick_dtype

    where = pick_device(device)
    kind = pick_dtype(dtype, where)
    read = functools.partial(_load, kind=kind, where=where, progress=progress)
    target, draft = located(target), draft and located(draft)
    target_name, draft_name = names_of(target, draft)
    loaded = read(target, target_name)
    target_model, tokenizer = loaded
    vocab_size = real_vocab_size(tokenizer)
    big = language_model(target_model, target_name, vocab_size)
    small = None
    if draft is not None and is_head_folder(draft):
        big, small = _load_feature_head(draft, draft_name, big, progress)
    elif draft is not None:
        draft_model, draft_tokenizer = _load_draft(draft, draft_name, target, loaded, read, progress)
        refuse_unless_same_tokens(target_name, tokenizer, draft_name, draft_tokenizer)
        small = language_model(draft_model, draft_name, vocab_size)
        vocab_size = min(big.vocab_size, small.vocab_size)
        big.vocab_size = small.vocab_size = vocab_size
    progress(Progress("ready", 1.0, Phrase("The models are ready.")))
    return Pair(
        info=PairInfo(name or key_of(target_name, draft_name), target_name, draft_name, vocab_size),
        target=big,
        draft=small,
        tokenizer=tokenizer,
        eos_ids=eos_ids_of(target_model, tokenizer),
        dtype=str(kind).removeprefix("torch."),
    )


def language_model(model: PreTrainedModel, name: str, vocab_size: int) -> TransformersModel | StaticModel:
    """On CUDA the static cache with graphs; elsewhere a cache that grows, which attends to less."""
    from specdec.models.static import StaticModel
    from specdec.models.transformers_model import TransformersModel

    kind = StaticModel if model.device.type == "cuda" else TransformersModel
    return kind(model, name=name, vocab_size=vocab_size)


def real_vocab_size(tokenizer: PreTrainedTokenizerBase) -> int:
    """One more than the largest id that stands for a text; embeddings are often padded beyond it."""
    return max(tokenizer.get_vocab().values()) + 1


def eos_ids_of(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Every id that ends a text: for the generation config, the tokenizer or the chat template.

    A model may declare its end in one of them only; a chat model has several.
    """
    from specdec.models.encoding import turn_ends

    declared = model.generation_config.eos_token_id
    ids = [declared] if isinstance(declared, int) else declared or []
    return frozenset(ids) | ({tokenizer.eos_token_id} - {None}) | turn_ends(tokenizer)


def refuse_unless_same_tokens(
    target: str, target_tokenizer: PreTrainedTokenizerBase, draft: str, draft_tokenizer: PreTrainedTokenizerBase
) -> None:
    """Raise `PairRefused` unless every id stands for the same text in both."""
    ours, theirs = target_tokenizer.get_vocab(), draft_tokenizer.get_vocab()
    if ours == theirs:
        return
    by_id = {token_id: text for text, token_id in theirs.items()}
    for text, token_id in sorted(ours.items(), key=lambda item: item[1]):
        if by_id.get(token_id) != text:
            raise PairRefused(
                "{draft} can't draft for {target}: their tokenizers differ, id {token_id} is {ours!r} in the target "
                "and {theirs!r} in the draft.",
                draft=draft, target=target, token_id=token_id, ours=text, theirs=by_id.get(token_id),
            )
    raise PairRefused(
        "{draft} can't draft for {target}: its tokenizer has {theirs} tokens, the target's {ours}.",
        draft=draft, target=target, theirs=len(theirs), ours=len(ours),
    )


def _load_draft(
    draft: str, name: str, target: str, loaded: Loaded, read: Callable[[str, str], Loaded], progress: Report
) -> Loaded:
    """The same weights are loaded once; the student is built on the embeddings of the 135M."""
    from specdec.models.student import load_student

    if draft == target:
        return loaded
    if draft != STUDENT:
        return read(draft, name)
    base, base_tokenizer = loaded if target == SMOLLM2 else read(SMOLLM2, SMOLLM2)
    progress(Progress("load", None, Phrase("Building the student on the target's embeddings…")))
    return load_student(base), base_tokenizer


def _load_feature_head(
    folder: str, name: str, target: TransformersModel | StaticModel, progress: Report
) -> tuple[TappedModel, FeatureDraft]:
    """The target as its head needs it, and the head, which has the target's tokens."""
    from specdec.models.feature_draft import reading_pair
    from specdec.models.feature_head import load_feature_head

    progress(Progress("load", None, Phrase("Loading {name}…", name=name)))
    with _one_sentence(Phrase("The model"), folder, name):
        return reading_pair(target, load_feature_head(target.model, Path(folder)), name)


def _load(source: str, name: str, *, kind: torch.dtype, where: torch.device, progress: Report) -> Loaded:
    path: str | Path = source
    if source == SMOLLM2:
        path = default_target_folder(progress)
    elif is_folder(source):
        refuse_damaged_folder(Path(source), name)
    elif not _in_hub_cache(source) and not hub_is_reachable():
        raise WeightsUnavailable(
            "{name} is neither a folder nor in the local cache, and the Hub can't be reached.", name=name
        )
    progress(Progress("load", None, Phrase("Loading {name}…", name=name)))
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with _one_sentence(Phrase("The tokenizer"), path, name):
        tokenizer = AutoTokenizer.from_pretrained(path)
    with _one_sentence(Phrase("The model"), path, name):
        model, found = AutoModelForCausalLM.from_pretrained(path, dtype=kind, output_loading_info=True)
        model = model.to(where)
    if missing := sorted(found["missing_keys"]):
        # transformers only warns, and draws them at random.
        raise WeightsUnavailable(
            "{name} lacks {count} of its weights, such as {first}.", name=name, count=len(missing), first=missing[0]
        )
    return model, tokenizer


@contextmanager
def _one_sentence(what: Phrase, path: str | Path, name: str) -> Iterator[None]:
    """Each format's reader has faults of its own for a file that is cut or missing, some of them plain `Exception`."""
    try:
        yield
    except Exception as fault:
        said = one_line(fault, path, name)
        raise WeightsUnavailable(
            "{what} of {name} could not be loaded: {said}.", what=what, name=name, said=said
        ) from fault


def refuse_damaged_folder(folder: Path, name: str) -> None:
    """What `transformers` would pass over in silence, or in words that don't name the file: `WeightsUnavailable`.

    name: what the folder is called in the sentence.
    """
    if is_head_folder(str(folder)):
        return  # its sums are checked when it is loaded
    if not (folder / "config.json").is_file():
        raise WeightsUnavailable("There is no model in the folder {name}: config.json is missing.", name=name)
    for file in _JSON_FILES:
        try:
            if (folder / file).exists():
                json.loads((folder / file).read_bytes())
        except (OSError, ValueError):
            raise WeightsUnavailable(
                "The model in the folder {name} is damaged: {file} is no JSON.", name=name, file=file
            ) from None


def _in_hub_cache(name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        return isinstance(try_to_load_from_cache(name, "config.json"), str)
    except HFValidationError:
        return False
