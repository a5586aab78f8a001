"""The bundled draft model: a few layers of our own on the target's embeddings.

The student shares the target's input embeddings (the same storage, never a copy) and scores only the
`head_ids`, the commonest token ids, with the target's own output rows. Every other id gets logit -inf,
i.e. probability 0, and a draft that never proposes a token is still exact: the target's residual covers it.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import LlamaForCausalLM, PreTrainedModel

from specdec.models.int8 import in_eight_bits
from specdec.models.sums import sha256_of
from specdec.settings import BadInput

BUNDLED = Path(__file__).parent / "bundled_draft"
MANIFEST = "manifest.json"
FORMAT = "specdec-student/1"
SHARD_BYTES = 9_500_000


class StudentError(BadInput):
    """A student folder that can't be used, said in one sentence."""


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
    embeddings = target.get_input_embeddings()
    width = embeddings.weight.shape[1]
    if state["norm.weight"].shape != (width,):
        raise StudentError(
            "This draft needs embeddings of width {needed}, but the target's have width {width}.",
            needed=len(state["norm.weight"]), width=width,
        )
    vocab_size = embeddings.weight.shape[0]
    if int(head_ids.max()) >= vocab_size:
        raise StudentError(
            "This draft proposes token id {proposed}, but the target has only {vocab_size} ids.",
            proposed=int(head_ids.max()), vocab_size=vocab_size,
        )

    config = copy.deepcopy(target.config)
    config.num_hidden_layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
    config.tie_word_embeddings = False
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[: config.num_hidden_layers]
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
    output = target.get_output_embeddings().weight.detach()
    student.lm_head = TrimmedHead(output[head_ids.long().to(output.device)], head_ids, vocab_size)
    student.generation_config = copy.deepcopy(target.generation_config)
    return student.eval()


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
    state: dict[str, Tensor] = {}
    for name, expected in _shards(folder).items():
        shard = folder / name
        if not shard.is_file():
            raise StudentError(
                "The draft model in {folder} is incomplete: {name} is missing.", folder=folder, name=name
            )
        found = sha256_of(shard)
        if found != expected:
            raise StudentError(
                "{shard} is damaged or was changed: its sha256 is {found}, expected {expected}.",
                shard=shard, found=found, expected=expected,
            )
        state.update(load_file(shard))
    if missing := {"head_ids", "norm.weight"} - state.keys():
        raise StudentError(
            "The draft model in {folder} is incomplete: its shards lack {missing}.",
            folder=folder, missing=", ".join(sorted(missing)),
        )
    return state, state.pop("head_ids")


def _shards(folder: Path) -> dict[str, str]:
    """Name and sha256 of each shard, from the manifest."""
    path = folder / MANIFEST
    if not path.is_file():
        raise StudentError(
            "There is no draft model in {folder}: {manifest} is missing.", folder=folder, manifest=MANIFEST
        )
    try:
        manifest = json.loads(path.read_bytes())
        form, shards = manifest.get("format"), dict(manifest.get("shards", {}))
    except (ValueError, TypeError, AttributeError):
        raise StudentError("{path} is damaged: it is not the JSON of a manifest.", path=path) from None
    if form != FORMAT:
        raise StudentError(
            "{path} has format {form!r}; this version reads {known!r}.", path=path, form=form, known=FORMAT
        )
    return shards


def save_student(folder: Path, state: dict[str, Tensor], head_ids: Tensor, about: dict[str, object]) -> None:
    """Write bf16 shards under `SHARD_BYTES` each and the manifest with their sha256 sums.

    Args:
        folder: created if missing; shards of an earlier student there are removed.
        state: as `build_student` takes it.
        head_ids: [H] increasing ids.
        about: further entries of the manifest, e.g. the base model's name.
    """
    tensors = {name: tensor.detach().to("cpu", torch.bfloat16).contiguous() for name, tensor in sorted(state.items())}
    tensors["head_ids"] = head_ids.to("cpu", torch.int32).contiguous()
    groups: list[dict[str, Tensor]] = [{}]
    for name, tensor in tensors.items():
        if sum(held.nbytes for held in groups[-1].values()) + tensor.nbytes > SHARD_BYTES:
            groups.append({})
        groups[-1][name] = tensor

    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("student-*.safetensors"):
        stale.unlink()
    shards = {}
    for number, group in enumerate(groups, start=1):
        shard = folder / f"student-{number:05d}-of-{len(groups):05d}.safetensors"
        save_file(group, shard)
        shards[shard.name] = sha256_of(shard)
    manifest = {"format": FORMAT, **about, "shards": shards}
    for shard in folder.glob("student-*.safetensors"):
        shard.chmod(0o644)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
