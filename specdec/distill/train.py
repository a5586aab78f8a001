"""Train the student on the target's distributions: warm-up, stable, decay; resumable at any step."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from specdec.distill.batches import Batch, Dataset, Row
from specdec.distill.losses import head_loss
from specdec.settings import BadInput

CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True)
class TrainSettings:
    """The recipe.

    Attributes:
        steps: optimizer steps in all.
        learning_rate: of the stable phase, for matrices.
        warmup: steps of linear warm-up.
        decay: share of `steps` at the end in which the rate falls linearly to a twentieth.
        finish: share of `steps` at the end that train on total variation instead of cross-entropy.
        batch_tokens: padded tokens of a batch.
        workers: batches a step, each on a thread of its own. Give torch one thread when there are several: they then
            wait for each other once a step instead of at every operation, which pays on a busy machine.
        weight_decay: of the matrices.
        optimizer: "muon" (matrices; AdamW for the norms) or "adamw".
        seed: of the order of batches and the choice of prompt positions.
        checkpoint_seconds: between checkpoints.
        evaluate_every: steps between held-out evaluations.
    """

    steps: int = 2000
    learning_rate: float = 1e-3
    warmup: int = 50
    decay: float = 0.3
    finish: float = 0.3
    batch_tokens: int = 4096
    workers: int = 1
    weight_decay: float = 0.01
    optimizer: str = "muon"
    seed: int = 1
    checkpoint_seconds: float = 180.0
    evaluate_every: int = 200


def rate(step: int, settings: TrainSettings) -> float:
    """Factor of the learning rate at a step: warm-up, stable, linear decay to 0.05."""
    decaying = max(1.0, settings.decay * settings.steps)
    left = (settings.steps - step) / decaying
    return min(1.0, (step + 1) / max(1, settings.warmup), 0.05 + 0.95 * max(0.0, left))


def finish_share(step: int, settings: TrainSettings) -> float:
    """Share of total variation in the loss: 0, then rising over a tenth of the finish to 1."""
    begin = settings.steps * (1 - settings.finish)
    return float(np.clip((step - begin) / max(1.0, 0.1 * settings.finish * settings.steps), 0.0, 1.0))


class Trainer:
    """The student in the target's dtype, float32 masters of its own tensors, and the optimizers over the masters."""

    def __init__(self, student: LlamaForCausalLM, dataset: Dataset, settings: TrainSettings, folder: Path) -> None:
        self.student, self.dataset, self.settings, self.folder = student, dataset, settings, folder
        self.head_rows = student.lm_head.scores.weight
        student.requires_grad_(False)
        self._own = _own_parameters(student)
        for parameter in self._own.values():
            parameter.requires_grad_(True)
        self.masters = {name: parameter.detach().float().clone() for name, parameter in self._own.items()}
        matrices = [tensor for tensor in self.masters.values() if tensor.ndim == 2]
        vectors = [tensor for tensor in self.masters.values() if tensor.ndim != 2]
        self.optimizers = _optimizers(matrices, vectors, settings)
        self.step = 0
        self.trained_tokens = 0
        self.seconds = 0.0
        self.curve: list[dict[str, float]] = []
        self._threads = ThreadPoolExecutor(settings.workers)
        self._plan: tuple[int, list[list[int]]] = (-1, [])

    def _batch(self, number: int) -> Batch:
        """The batch of a number, the same whenever and wherever it is asked for."""
        epoch, place = self._locate(number)
        rows = [self.dataset.training[index] for index in self._plan[1][place]]
        return self.dataset.batch(rows, np.random.default_rng((self.settings.seed, epoch, place)))

    def _locate(self, number: int) -> tuple[int, int]:
        epoch, before = 0, 0
        while True:
            if self._plan[0] != epoch:
                self._plan = (epoch, self.dataset.plan(epoch, self.settings.seed, self.settings.batch_tokens))
            if number < before + len(self._plan[1]):
                return epoch, number - before
            before += len(self._plan[1])
            epoch += 1

    def train_step(self) -> tuple[float, float]:
        """One optimizer step; the loss and the overlap on its batches."""
        batches = [self._batch(self.step * self.settings.workers + worker) for worker in range(self.settings.workers)]
        results = list(self._threads.map(self._gradients, batches))
        shares = torch.tensor([float(len(batch.positions)) for batch in batches])
        shares /= shares.sum()
        factor = rate(self.step, self.settings)
        with torch.no_grad():
            for place, master in enumerate(self.masters.values()):
                master.grad = sum(
                    share * gradients[place].float() for share, (gradients, _, _) in zip(shares, results, strict=True)
                )
            nn.utils.clip_grad_norm_(self.masters.values(), 1.0)
            for optimizer in self.optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = group["initial_lr"] * factor
            list(self._threads.map(_step, self.optimizers))
            for name, parameter in self._own.items():
                parameter.copy_(self.masters[name])
        self.step += 1
        self.trained_tokens += sum(len(batch.positions) for batch in batches)
        loss, overlap = (
            sum(float(share) * result[which] for share, result in zip(shares, results, strict=True)) for which in (1, 2)
        )
        return loss, overlap

    def _gradients(self, batch: Batch) -> tuple[tuple[Tensor, ...], float, float]:
        """Gradients of the student's own tensors on a batch, its loss and its overlap."""
        loss, overlap = self._loss(batch.to(self.head_rows.device), finish_share(self.step, self.settings))
        return torch.autograd.grad(loss, list(self._own.values())), loss.item(), overlap.item()

    def _loss(self, batch: Batch, finish: float) -> tuple[Tensor, Tensor]:
        hidden = self.student.model(input_ids=batch.ids, use_cache=False).last_hidden_state.flatten(0, 1)[
            batch.positions
        ]
        weights = torch.ones(len(batch.positions), device=hidden.device)
        return head_loss(hidden, self.head_rows, batch.teacher_index, batch.teacher_probs, weights, finish)

    def held_out(self, rows_at_once: int = 8) -> dict[str, float]:
        """Mean overlap on the held-out answers, overall ("all") and for each kind of prompt."""
        by_kind: dict[str, list[Row]] = {}
        for row in sorted(self.dataset.held_out, key=lambda row: (row.kind, row.length)):
            by_kind.setdefault(row.kind, []).append(row)
        groups = [
            (kind, rows[start : start + rows_at_once])
            for kind, rows in by_kind.items()
            for start in range(0, len(rows), rows_at_once)
        ]
        sums: dict[str, float] = {}
        counts: dict[str, int] = {}
        for (kind, _), (overlap, count) in zip(groups, self._threads.map(self._overlap, groups), strict=True):
            for key in (kind, "all"):
                sums[key] = sums.get(key, 0.0) + overlap * count
                counts[key] = counts.get(key, 0) + count
        return {kind: sums[kind] / counts[kind] for kind in sums if counts[kind]}

    @torch.no_grad()
    def _overlap(self, group: tuple[str, list[Row]]) -> tuple[float, int]:
        """Mean overlap on rows of a kind, and of how many positions."""
        batch = self.dataset.batch(group[1], None).to(self.head_rows.device)
        count = len(batch.positions)
        return (float(self._loss(batch, 1.0)[1]) if count else 0.0), count

    def run(self) -> None:
        """Train to the last step, with progress lines, checkpoints and the learning curve."""
        mark, saved, tokens, begin_step = time.monotonic(), time.monotonic(), 0, self.step
        loss_mean = overlap_mean = 0.0
        while self.step < self.settings.steps:
            before, started = self.trained_tokens, time.monotonic()
            loss, overlap = self.train_step()
            self.seconds += time.monotonic() - started
            tokens += self.trained_tokens - before
            smooth = max(0.02, 1 / (self.step - begin_step))
            loss_mean += smooth * (loss - loss_mean)
            overlap_mean += smooth * (overlap - overlap_mean)
            if self.step % 20 == 0:
                speed = (self.step - begin_step) / (time.monotonic() - mark)
                print(
                    f"step {self.step}/{self.settings.steps}: loss {loss_mean:.4f}, overlap {overlap_mean:.4f}, "
                    f"{tokens / (time.monotonic() - mark):.0f} trained tokens/s, "
                    f"{(self.settings.steps - self.step) / speed / 60:.1f} min left",
                    flush=True,
                )
            if self.step % self.settings.evaluate_every == 0 or self.step == self.settings.steps:
                found = self.held_out()
                self.curve.append(
                    {"step": self.step, "trained_tokens": self.trained_tokens, "hours": round(self.seconds / 3600, 4)}
                    | {kind: round(value, 4) for kind, value in found.items()}
                )
                print("held out: " + ", ".join(f"{kind} {value:.3f}" for kind, value in found.items()), flush=True)
            if time.monotonic() - saved > self.settings.checkpoint_seconds:
                self.save()
                saved = time.monotonic()
        self.save()

    def save(self) -> None:
        """Write a checkpoint that replaces the last one only when complete."""
        self.folder.mkdir(parents=True, exist_ok=True)
        tensors = {"head_ids": self.student.lm_head.head_ids}
        tensors |= {f"masters.{name}": tensor for name, tensor in self.masters.items()}
        for number, optimizer in enumerate(self.optimizers):
            for index, state in optimizer.state_dict()["state"].items():
                for key, value in state.items():
                    tensors[f"optimizers.{number}.{index}.{key}"] = torch.as_tensor(value)
        about = {
            "step": self.step,
            "trained_tokens": self.trained_tokens,
            "seconds": self.seconds,
            "curve": self.curve,
            "settings": asdict(self.settings),
        }
        half = self.folder / "checkpoint.half"
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, half, {"about": json.dumps(about)})
        os.replace(half, self.folder / CHECKPOINT)

    def resume(self) -> bool:
        """Go on from the folder's checkpoint; False if there is none."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            return False
        tensors, about = read_checkpoint(path)
        self.step, self.trained_tokens, self.seconds, self.curve = (
            about[key] for key in ("step", "trained_tokens", "seconds", "curve")
        )
        with torch.no_grad():
            for name, master in self.masters.items():
                master.copy_(tensors[f"masters.{name}"])
                self._own[name].copy_(master)
        for number, optimizer in enumerate(self.optimizers):
            state: dict[int, dict[str, Tensor]] = {}
            for name, tensor in tensors.items():
                if name.startswith(f"optimizers.{number}."):
                    _, _, index, key = name.split(".")
                    state.setdefault(int(index), {})[key] = tensor
            optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
        return True


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict]:
    """The tensors of a checkpoint and its counters, learning curve and settings."""
    from safetensors import safe_open

    with safe_open(path, framework="pt") as file:
        about = json.loads(file.metadata()["about"])
    return load_file(path), about


def layers_of(target: LlamaForCausalLM, layers: list[int]) -> dict[str, Tensor]:
    """A student's first tensors: copies of these layers of the target, and of its final norm."""
    state = {"norm.weight": target.model.norm.weight.detach().clone()}
    for place, layer in enumerate(layers):
        for name, tensor in target.model.layers[layer].state_dict().items():
            state[f"layers.{place}.{name}"] = tensor.detach().clone()
    return state


@torch.no_grad()
def _step(optimizer: torch.optim.Optimizer) -> None:
    optimizer.step()


def _own_parameters(student: LlamaForCausalLM) -> dict[str, nn.Parameter]:
    own = {f"layers.{name}": parameter for name, parameter in student.model.layers.named_parameters()}
    return own | {"norm.weight": student.model.norm.weight}


def _optimizers(matrices: list[Tensor], vectors: list[Tensor], settings: TrainSettings) -> list[torch.optim.Optimizer]:
    """One optimizer for each matrix, so that they can step side by side, and one for the vectors."""
    rate, decay = settings.learning_rate, settings.weight_decay
    if settings.optimizer == "muon" and not hasattr(torch.optim, "Muon"):
        raise BadInput(
            "The optimizer muon needs torch 2.9 or newer; this is {version}. Choose adamw.", version=torch.__version__
        )
    if settings.optimizer == "muon":
        optimizers = [
            torch.optim.Muon([matrix], lr=rate, weight_decay=decay, adjust_lr_fn="match_rms_adamw") for matrix in matrices
        ]
    else:
        optimizers = [torch.optim.AdamW([matrix], lr=rate, betas=(0.9, 0.98), weight_decay=decay) for matrix in matrices]
    optimizers.append(torch.optim.AdamW(vectors, lr=rate, betas=(0.9, 0.98), weight_decay=0.0))
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["initial_lr"] = rate
    return optimizers
