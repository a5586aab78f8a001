"""Train a draft model on the target's distributions: warm-up, stable, decay; resumable at any step."""

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

from specdec.distill.batches import Batch, Dataset, Row
from specdec.distill.pupils import Pupil
from specdec.settings import BadInput

CHECKPOINT = "checkpoint.safetensors"
BEFORE_DECAY = "before-decay.safetensors"


@dataclass(frozen=True)
class TrainSettings:
    """The recipe.

    Attributes:
        steps: optimizer steps in all.
        hours: of training in all, evaluations included, None for no limit: the schedule then moves on with the time, if that is faster
            than with the steps, so that the rate has decayed by then.
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
    hours: float | None = None
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


def warm_up(step: int, settings: TrainSettings) -> float:
    """Factor of the learning rate at a step: rising linearly to 1."""
    return min(1.0, (step + 1) / max(1, settings.warmup))


def decay(place: float, settings: TrainSettings) -> float:
    """Factor of the learning rate at a place of the schedule: 1, then falling linearly to 0.05."""
    left = (settings.steps - place) / max(1.0, settings.decay * settings.steps)
    return min(1.0, 0.05 + 0.95 * max(0.0, left))


def finish_share(place: float, settings: TrainSettings) -> float:
    """Share of total variation in the loss: 0, then rising over a tenth of the finish to 1."""
    begin = settings.steps * (1 - settings.finish)
    return float(np.clip((place - begin) / max(1.0, 0.1 * settings.finish * settings.steps), 0.0, 1.0))


def stable_end(settings: TrainSettings) -> float:
    """The step at which the decay or the finish begins: a longer training can go on from here."""
    return settings.steps * (1 - max(settings.decay, settings.finish))


class Trainer:
    """A pupil in the target's dtype, float32 masters of its own tensors, and the optimizers over the masters."""

    def __init__(self, pupil: Pupil, dataset: Dataset, settings: TrainSettings, folder: Path) -> None:
        self.pupil, self.dataset, self.settings, self.folder = pupil, dataset, settings, folder
        self._device = pupil.scores.head_ids.device
        self._own = pupil.own_parameters()
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

    @property
    def place(self) -> float:
        """Where the schedule stands, 0 to `steps`: at the step, or further as the training time is used up."""
        if self.settings.hours is None:
            return self.step
        return max(self.step, self.seconds / 3600 / self.settings.hours * self.settings.steps)

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
        factor = warm_up(self.step, self.settings) * decay(self.place, self.settings)
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
        """Gradients of the pupil's own tensors on a batch, its loss and the overlap where a draft begins."""
        loss, overlaps = self.pupil.loss(batch.to(self._device), finish_share(self.place, self.settings))
        return torch.autograd.grad(loss, list(self._own.values())), loss.item(), overlaps[0].item()

    def held_out(self, rows_at_once: int = 8) -> dict[str, float]:
        """Mean overlap on the held-out answers where a draft begins, overall ("all") and for each kind of prompt.

        For a pupil that is trained on several places of a draft also "step1", "step2", ... over all kinds.
        """
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
        for (kind, _), (overlaps, count) in zip(groups, self._threads.map(self._overlaps, groups), strict=True):
            steps = {f"step{step}": overlap for step, overlap in enumerate(overlaps, start=1) if len(overlaps) > 1}
            for key, overlap in ({kind: overlaps[0], "all": overlaps[0]} | steps).items():
                sums[key] = sums.get(key, 0.0) + overlap * count
                counts[key] = counts.get(key, 0) + count
        return {key: sums[key] / counts[key] for key in sums if counts[key]}

    @torch.no_grad()
    def _overlaps(self, group: tuple[str, list[Row]]) -> tuple[list[float], int]:
        """Mean overlap on rows of a kind at each place of a draft, and on how many positions."""
        batch = self.dataset.batch(group[1], None).to(self._device)
        count = len(batch.positions)
        return (self.pupil.loss(batch, 1.0)[1].tolist() if count else [0.0]), count

    def run(self) -> None:
        """Train to the last step, with progress lines, checkpoints and the learning curve."""
        mark = saved = time.monotonic()
        origin, tokens, begin_step, begin = mark - self.seconds, 0, self.step, self.place
        place, loss_mean, overlap_mean = begin, 0.0, 0.0
        while self.place < self.settings.steps:
            before = self.trained_tokens
            loss, overlap = self.train_step()
            self.seconds = time.monotonic() - origin
            tokens += self.trained_tokens - before
            smooth = max(0.02, 1 / (self.step - begin_step))
            loss_mean += smooth * (loss - loss_mean)
            overlap_mean += smooth * (overlap - overlap_mean)
            if self.step % 20 == 0:
                speed = (self.place - begin) / (time.monotonic() - mark)
                print(
                    f"step {self.step}/{self.settings.steps}: loss {loss_mean:.4f}, overlap {overlap_mean:.4f}, "
                    f"{tokens / (time.monotonic() - mark):.0f} trained tokens/s, "
                    f"{(self.settings.steps - self.place) / speed / 60:.1f} min left",
                    flush=True,
                )
            if place < stable_end(self.settings) <= self.place:
                self.save(BEFORE_DECAY)
            place = self.place
            if self.step % self.settings.evaluate_every == 0 or self.place >= self.settings.steps:
                found = self.held_out()
                self.curve.append(
                    {"step": self.step, "trained_tokens": self.trained_tokens, "hours": round(self.seconds / 3600, 4)}
                    | {kind: round(value, 4) for kind, value in found.items()}
                )
                print("held out: " + ", ".join(f"{kind} {value:.3f}" for kind, value in found.items()), flush=True)
                self.seconds = time.monotonic() - origin
            if time.monotonic() - saved > self.settings.checkpoint_seconds:
                self.save()
                saved = time.monotonic()
        self.save()

    def save(self, name: str = CHECKPOINT) -> None:
        """Write a checkpoint that replaces the last one of that name only when complete."""
        self.folder.mkdir(parents=True, exist_ok=True)
        tensors = self.pupil.kept()
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
        os.replace(half, self.folder / name)

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


def trained_state(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The draft model's own tensors in a checkpoint, in float32."""
    return {name.removeprefix("masters."): tensor for name, tensor in tensors.items() if name.startswith("masters.")}


@torch.no_grad()
def _step(optimizer: torch.optim.Optimizer) -> None:
    optimizer.step()


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
