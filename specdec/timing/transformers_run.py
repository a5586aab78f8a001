"""The same models through `transformers`' own generate(), plain and assisted, for comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import torch
from transformers import GenerationConfig, PreTrainedModel, StoppingCriteria, StoppingCriteriaList
from transformers.utils import logging

from specdec.models.cancelling import Check
from specdec.models.devices import synchronise
from specdec.models.pairs import Pair
from specdec.settings import BadInput, Settings
from specdec.timing.records import RunTiming

NO_TOP_K = 0


class _Stamps(StoppingCriteria):
    """Notes the clock and the length after every step, then asks whether to go on; ends no text by itself."""

    def __init__(self, device: torch.device, check: Check):
        self._device = device
        self._check = check
        self.times: list[float] = []
        self.lengths: list[int] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        synchronise(self._device)
        self.times.append(perf_counter())
        self.lengths.append(input_ids.shape[1])
        self._check()
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)


def time_generate(pair: Pair, prompt_ids: Sequence[int], settings: Settings) -> RunTiming:
    """Run generate() on the pair's own weights, with gamma > 0 assisted by the draft model.

    The first step reads the prompt, so it counts as prefill: decode_tokens are those after it, and
    decode_seconds runs from its end to the end of the last step. A run that is over after its first step has
    0 of both. Assistance: num_assistant_tokens = gamma, constant, no confidence threshold; sampling as
    in `settings`. Seeds torch's global state inside a fork, as generate() takes no generator.
    """
    target, draft = generating_models(pair, settings)
    config = generation_config(target, pair.eos_ids, settings)
    ids = torch.tensor([list(prompt_ids)], device=target.device)
    stamps = _Stamps(target.device, pair.check)
    arguments: dict[str, Any] = {"generation_config": config, "stopping_criteria": StoppingCriteriaList([stamps])}
    if draft is not None:
        arguments["assistant_model"] = draft
    devices = [target.device] if target.device.type == "cuda" else []
    with torch.random.fork_rng(devices), assisting(draft, settings.gamma), torch.inference_mode():
        torch.manual_seed(settings.seed)
        synchronise(target.device)
        began = perf_counter()
        target.generate(ids, attention_mask=torch.ones_like(ids), **arguments)
    steps = len(stamps.times) - 1
    tokens = stamps.lengths[-1] - len(prompt_ids)
    decoded = stamps.lengths[-1] - stamps.lengths[0]
    plain = draft is None
    return RunTiming(
        tokens=tokens,
        prefill_seconds=stamps.times[0] - began,
        decode_tokens=decoded,
        decode_seconds=stamps.times[-1] - stamps.times[0],
        rounds=steps,
        drafted=0 if plain else None,
        tested=0 if plain else None,
        accepted=0 if plain else None,
    )


def generating_models(pair: Pair, settings: Settings) -> tuple[PreTrainedModel, PreTrainedModel | None]:
    """The pair's models as generate() wants them. Raises `BadInput` where it can't do what `settings` say."""
    target = getattr(pair.target, "model", None)
    if not isinstance(target, PreTrainedModel):
        raise BadInput("generate() of transformers needs a model of transformers as the target.")
    if settings.gamma == 0:
        return target, None
    draft = getattr(pair.draft, "model", None)
    if settings.drafter != "model" or not isinstance(draft, PreTrainedModel):
        raise BadInput("Assisted generation is compared with a draft model only, not with prompt lookup.")
    if settings.rule != "token" or settings.draft_temperature not in (None, settings.temperature):
        raise BadInput("Assisted generation has the rule token and one temperature only.")
    return target, draft


def generation_config(target: PreTrainedModel, eos_ids: frozenset[int], settings: Settings) -> GenerationConfig:
    """`settings` in the words of transformers; eos_ids: those that end a text here too."""
    own = target.generation_config
    sampling: dict[str, Any] = {"do_sample": False}
    if settings.temperature > 0:
        sampling = {"do_sample": True, "temperature": float(settings.temperature)}
        sampling |= {"top_k": settings.top_k or NO_TOP_K, "top_p": settings.top_p}
    return GenerationConfig(
        max_new_tokens=settings.max_new_tokens,
        eos_token_id=sorted(eos_ids) or None,
        pad_token_id=own.pad_token_id if own.pad_token_id is not None else min(eos_ids, default=None),
        bos_token_id=own.bos_token_id,
        **sampling,
    )


@contextmanager
def assisting(draft: PreTrainedModel | None, gamma: int) -> Iterator[None]:
    """For a while, let the draft model draft exactly gamma tokens a round, without a word on standard error."""
    if draft is None:
        yield
        return
    kept = draft.generation_config
    draft.generation_config = GenerationConfig.from_dict(
        kept.to_dict()
        | {"num_assistant_tokens": gamma, "num_assistant_tokens_schedule": "constant", "assistant_confidence_threshold": 0.0}
    )
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # generate() warns about how generate() calls the draft model
    try:
        yield
    finally:
        draft.generation_config = kept
        logging.set_verbosity(verbosity)
