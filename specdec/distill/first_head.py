"""Where a feature head begins: layers of the target behind the best linear guess of what the target gives them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from specdec.distill.pupils import layers_of, taken

RIDGE = 0.02
"""Of the fit, for each token: its columns have a mean square of 1, and most say little."""


@torch.no_grad()
def first_feature_head(
    target: LlamaForCausalLM, layers: list[int], taps: tuple[int, ...], texts: Sequence[Tensor]
) -> dict[str, Tensor]:
    """A feature head's first tensors: copies of these layers of the target, and of its final norm.

    They are copied to where they know their way: the mix and the join are solved by least squares, so that each row
    comes as near as a linear map can to what the first of the layers gets in the target at that token. What they have
    to go by is the place before, so most of it is to be learnt; but training begins there and not at noise.

    Args:
        layers: counted from 0.
        taps: as `FeatureHead.taps`.
        texts: [n] ids each; a few thousand in all, several times as many as the columns of the fit.
    """
    inputs, wanted = zip(*(_seen_and_wanted(target, ids, taps, layers[0]) for ids in texts), strict=True)
    columns, goal = torch.cat(inputs), torch.cat(wanted)
    width, sizes = goal.shape[1], _size(goal)
    normal = columns.T @ columns + RIDGE * len(columns) * torch.eye(columns.shape[1])
    fitted = torch.linalg.solve(normal, columns.T @ (goal / sizes))
    from_taps, from_token = fitted[:-width], fitted[-width:]
    size, feature_size = sizes.median(), _size(columns[:, :-width] @ from_taps).median()
    return (
        layers_of(target, layers)
        | {f"tap_norms.{number}.weight": torch.ones(width) for number in range(len(taps))}
        | {
            "mix.weight": from_taps.T.contiguous(),
            # The sizes stand in the norms: in the matrices they would make a step of training too small to matter.
            "embed_norm.weight": size * torch.ones(width),
            "feature_norm.weight": size * feature_size * torch.ones(width),
            "join.weight": torch.cat((from_token.T, torch.eye(width)), dim=1),
        }
    )


def _seen_and_wanted(target: LlamaForCausalLM, ids: Tensor, taps: tuple[int, ...], layer: int) -> tuple[Tensor, Tensor]:
    """For each token but the first: what the head knows, normalised, and what the target's layer gets."""
    token, *tapped, wanted = taken(target, ids[None], (0, *taps, layer))[0].float().unbind(1)
    columns = [*(state[:-1] for state in tapped), token[1:]]
    return torch.cat([state / _size(state) for state in columns], dim=1), wanted[1:]


def _size(rows: Tensor) -> Tensor:
    """[n, width] -> [n, 1] root of the mean square."""
    return rows.square().mean(-1, keepdim=True).sqrt().clamp_min(1e-6)
