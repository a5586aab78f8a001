"""The bundled draft model: a few layers of our own on the target's embeddings.

The student shares the target's input embeddings (the same storage, never a copy) and scores only the
`head_ids`, the commonest token ids, with the target's own output rows. Every other id gets logit -inf,
i.e. probability 0, and a draft that never proposes a token is still exact: the target's residual covers it.
"""

from __future__ import annotations

import copy
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM, PreTrainedModel

from specdec.models.int8 import in_eight_bits
from specdec.models.shards import StudentError, read_shards, write_shards

BUNDLED = Path(__file__).parent / "bundled_draft"
FORMAT = "specdec-student/1"


class TrimmedHead(nn.Module):
    """Output head over some token ids: logits for the whole vocabulary, -inf outside `head_ids`.

    Args:
        rows: [len(head_ids), width] output vectors of those ids.
        head_ids: [len(head_ids)] increasing token ids.
        vocab_size: length of the returned logits.
    """

    def __init__(self, rows: Tensor, head_ids: Tensor, vocab_size: int) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.scores = nn.Linear(*reversed(rows.shape), bias=False, device="meta")
        self.scores.weight = nn.Parameter(rows, requires_grad=False)
        self.register_buffer("head_ids", head_ids.long().to(rows.device), persistent=False)

    def trimmed(self, hidden: Tensor) -> Tensor:
        """[..., width] -> [..., len(head_ids)] logits of the head's ids, in their order."""
        return self.scores(hidden)

    def forward(self, hidden: Tensor) -> Tensor:
        """[..., width] -> [..., vocab_size] logits, -inf for every id outside the head."""
        logits = self.trimmed(hidden)
        full = logits.new_full((*logits.shape[:-1], self.vocab_size), float("-inf"))
        return full.index_copy_(-1, self.head_ids, logits)


def build_student(target: PreTrainedModel, state: dict[str, Tensor], head_ids: Tensor) -> LlamaForCausalLM:
    """A causal LM of the layers in `state` between the target's embeddings and its trimmed head.

    Args:
        target: a Llama-architecture causal LM; its embeddings are shared, not copied.
        state: `layers.{i}.*` (names of `LlamaDecoderLayer`) and `norm.weight`.
        head_ids: [H] ids the student may propose.

    Returns:
        The student in eval mode, with the device and dtype of the target.
    """
    refuse_misfit(target, state, head_ids)
    config = copy.deepcopy(target.config)
    config.num_hidden_layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    config.tie_word_embeddings = False
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[: config.num_hidden_layers]
    embeddings = target.get_input_embeddings()
    with torch.device("meta"):
        student = LlamaForCausalLM(config)
    like = embeddings.weight
    for part in (student.model.layers, student.model.norm):
        prefix = "layers." if part is student.model.layers else "norm."
        part.load_state_dict(
            {
                name[len(prefix) :]: tensor.to(device=like.device, dtype=like.dtype)
                for name, tensor in state.items()
                if name.startswith(prefix)
            },
            assign=True,
        )
    student.model.embed_tokens = embeddings
    student.model.rotary_emb = target.get_decoder().rotary_emb
    student.lm_head = trimmed_head(target, head_ids)
    student.generation_config = copy.deepcopy(target.generation_config)
    return student.eval()


def refuse_misfit(target: PreTrainedModel, state: dict[str, Tensor], head_ids: Tensor) -> None:
    """Raise `StudentError` for a draft of another width, or one that proposes ids which the target doesn't have."""
    vocab_size, width = target.get_input_embeddings().weight.shape
    if state["norm.weight"].shape != (width,):
        raise StudentError(
            "This draft needs embeddings of width {needed}, but the target's have width {width}.",
            needed=len(state["norm.weight"]), width=width,
        )
    if int(head_ids.max()) >= vocab_size:
        raise StudentError(
            "This draft proposes token id {proposed}, but the target has only {vocab_size} ids.",
            proposed=int(head_ids.max()), vocab_size=vocab_size,
        )


def trimmed_head(target: PreTrainedModel, head_ids: Tensor) -> TrimmedHead:
    """The target's own output rows of these ids."""
    output = target.get_output_embeddings().weight.detach()
    vocab_size = target.get_input_embeddings().weight.shape[0]
    return TrimmedHead(output[head_ids.long().to(output.device)], head_ids, vocab_size)


def student_state(student: LlamaForCausalLM) -> dict[str, Tensor]:
    """The student's own tensors, named as `build_student` and `save_student` expect them."""
    own = {f"layers.{name}": tensor for name, tensor in student.model.layers.state_dict().items()}
    own["norm.weight"] = student.model.norm.weight
    return {name: tensor.detach() for name, tensor in own.items()}


def load_student(target: PreTrainedModel, folder: Path = BUNDLED, *, head: int | None = None) -> LlamaForCausalLM:
    """The student kept in `folder`, checked against its sha256 sums and built on the target's embeddings.

    head: score only so many of its ids, the lowest: a byte-pair vocabulary numbers its tokens as they were merged,
    the commonest first. None: all. On a CPU its own matrices and its head are held in 8 bits.
    """
    state, head_ids = read_student(folder)
    student = build_student(target, state, head_ids[:head])
    if student.device.type == "cpu":
        in_eight_bits(student)
    return student


def read_student(folder: Path) -> tuple[dict[str, Tensor], Tensor]:
    """The tensors and the head's ids kept in `folder`, after the check of every shard's sha256."""
    state, _ = read_shards(folder, FORMAT, ("head_ids", "norm.weight"))
    return state, state.pop("head_ids")


def save_student(folder: Path, state: dict[str, Tensor], head_ids: Tensor, about: dict[str, object]) -> None:
    """Write bf16 shards and the manifest with their sha256 sums, in place of an earlier student's.

    Args:
        folder: created if missing.
        state: as `build_student` takes it.
        head_ids: [H] increasing ids.
        about: further entries of the manifest, e.g. the base model's name.
    """
    write_shards(folder, FORMAT, state | {"head_ids": head_ids}, "student", about)
