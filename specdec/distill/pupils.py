"""What can be trained: the student, which reads tokens alone, and the head that is fed with the target's features."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from specdec.distill.batches import Batch
from specdec.distill.losses import head_loss
from specdec.distill.unrolling import unrolled
from specdec.models.feature_head import FeatureHead, own_parameters
from specdec.models.student import TrimmedHead

STEP_WEIGHT = 0.8
"""Weight in the loss of each step of an unrolled draft, to that of the step before: fewer drafts come so far."""


class Pupil(Protocol):
    """A draft model as the trainer sees it; its parameters are frozen but for its own."""

    scores: TrimmedHead

    def own_parameters(self) -> dict[str, nn.Parameter]:
        """The parameters to train."""

    def kept(self) -> dict[str, Tensor]:
        """The tensors that a checkpoint needs beside the parameters: `head_ids` and what tells the kind of pupil."""

    def loss(self, batch: Batch, finish: float) -> tuple[Tensor, Tensor]:
        """The loss on a batch, differentiable, and [steps] the overlap at each place of a draft."""


class StudentPupil:
    """The student; every place of a draft is the same to it."""

    def __init__(self, student: LlamaForCausalLM) -> None:
        self._student, self.scores = student.requires_grad_(False), student.lm_head
        for parameter in self.own_parameters().values():
            parameter.requires_grad_(True)

    def own_parameters(self) -> dict[str, nn.Parameter]:
        """The layers and the norm, named as `build_student` expects them."""
        model = self._student.model
        own = {f"layers.{name}": parameter for name, parameter in model.layers.named_parameters()}
        return own | {"norm.weight": model.norm.weight}

    def kept(self) -> dict[str, Tensor]:
        """The head's ids."""
        return {"head_ids": self.scores.head_ids}

    def loss(self, batch: Batch, finish: float) -> tuple[Tensor, Tensor]:
        """Distance from the teacher at the batch's positions, and [1] the overlap."""
        hidden = self._student.model(input_ids=batch.ids, use_cache=False).last_hidden_state
        loss, overlap = _distance(self.scores, hidden, batch, finish)
        return loss, overlap[None]


class HeadPupil:
    """The feature head, unrolled on its own outputs behind features that the target computes anew for each batch.

    steps: how many places of a draft are trained.
    """

    def __init__(self, target: LlamaForCausalLM, head: FeatureHead, steps: int) -> None:
        self._target, self._head, self._steps = target.requires_grad_(False), head.requires_grad_(False), steps
        self.scores = head.lm_head
        for parameter in self.own_parameters().values():
            parameter.requires_grad_(True)

    def own_parameters(self) -> dict[str, nn.Parameter]:
        """All that the head doesn't share with the target."""
        return own_parameters(self._head)

    def kept(self) -> dict[str, Tensor]:
        """The head's ids and the taps."""
        return {"head_ids": self.scores.head_ids, "taps": torch.tensor(self._head.taps)}

    def loss(self, batch: Batch, finish: float) -> tuple[Tensor, Tensor]:
        """Weighted mean over the steps of the distance from the teacher, and [steps] the overlaps."""
        features = self._head.mixed(taken(self._target, batch.ids, self._head.taps))
        found = [
            _distance(self.scores, hidden, batch, finish)
            for hidden in unrolled(self._head, batch.ids, features, self._steps)
        ]
        weights = [STEP_WEIGHT**step for step in range(self._steps)]
        loss = sum(weight * step_loss for weight, (step_loss, _) in zip(weights, found, strict=True)) / sum(weights)
        return loss, torch.stack([overlap for _, overlap in found])


def _distance(scores: TrimmedHead, hidden: Tensor, batch: Batch, finish: float) -> tuple[Tensor, Tensor]:
    chosen = hidden.flatten(0, 1)[batch.positions]
    weights = torch.ones(len(chosen), device=chosen.device)
    return head_loss(chosen, scores.scores.weight, batch.teacher_index, batch.teacher_probs, weights, finish)


@torch.no_grad()
def taken(target: LlamaForCausalLM, ids: Tensor, taps: tuple[int, ...]) -> Tensor:
    """[texts, n] ids, padded on the right -> [texts, n, len(taps), width] the target's hidden states at the taps.

    The layers above the last tap are not run.
    """
    decoder = target.model
    hidden = decoder.embed_tokens(ids)
    rotary = decoder.rotary_emb(hidden, position_ids=torch.arange(ids.shape[1], device=ids.device)[None])
    states = {0: hidden}
    for number, layer in enumerate(decoder.layers[: max(taps)], start=1):
        hidden = layer(hidden, position_embeddings=rotary)
        if number in taps:
            states[number] = hidden
    return torch.stack([states[tap] for tap in taps], dim=-2)


def layers_of(target: LlamaForCausalLM, layers: list[int]) -> dict[str, Tensor]:
    """A student's first tensors: copies of these layers of the target, and of its final norm."""
    state = {"norm.weight": target.model.norm.weight.detach().clone()}
    for place, layer in enumerate(layers):
        for name, tensor in target.model.layers[layer].state_dict().items():
            state[f"layers.{place}.{name}"] = tensor.detach().clone()
    return state
