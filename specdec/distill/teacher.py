"""The target as a writer: many prompts at once, with the distribution kept at every position.

The target's weights are read from an ordinary `LlamaForCausalLM` and run by a lean batched forward pass over a
preallocated key-value cache: fused projections, grouped heads without copies, left-padded rows that leave the
batch as they finish. On a CPU this writes several times more tokens per second than `generate` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import LlamaForCausalLM

from specdec.distill.attention import attend, attend_once, rotate

MASKED = -1e30
ROWS_AT_ONCE = 32
GROWTH = 64
PREFILL_ROWS = 32
PREFILL_BLOCK = 128


@dataclass(frozen=True)
class Written:
    """One prompt with the answer written to it.

    Attributes:
        ids: the prompt's ids and then the answer's.
        prompt_length: how many of `ids` are the prompt.
        top_ids: [len(ids) - 1, k] likeliest next ids after each position but the last, likeliest first.
        top_logprobs: [len(ids) - 1, k] their natural-log probabilities at temperature 1.
    """

    ids: list[int]
    prompt_length: int
    top_ids: Tensor
    top_logprobs: Tensor


@dataclass(frozen=True)
class _Layer:
    attention_norm: Tensor
    query_key_value: Tensor
    attention_out: Tensor
    mlp_norm: Tensor
    gate_up: Tensor
    down: Tensor


class Teacher:
    """A Llama-architecture target that writes and scores rows of a batch."""

    def __init__(self, model: LlamaForCausalLM, keep: int = 32) -> None:
        config = model.config
        self.keep = keep
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.head_dim = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.epsilon = config.rms_norm_eps
        self.embeddings = model.get_input_embeddings().weight.detach()
        self.output = model.get_output_embeddings().weight.detach()
        self.norm = model.model.norm.weight.detach()
        self.rotary = model.model.rotary_emb
        self.layers = [
            _Layer(
                layer.input_layernorm.weight.detach(),
                torch.cat(
                    [layer.self_attn.q_proj.weight, layer.self_attn.k_proj.weight, layer.self_attn.v_proj.weight]
                ).detach(),
                layer.self_attn.o_proj.weight.detach(),
                layer.post_attention_layernorm.weight.detach(),
                torch.cat([layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight]).detach(),
                layer.mlp.down_proj.weight.detach(),
            )
            for layer in model.model.layers
        ]

    @property
    def device(self) -> torch.device:
        return self.embeddings.device

    def cache(self, rows: int, length: int) -> Tensor:
        """An empty key-value cache: [layers, 2, rows, kv_heads, length, head_dim]."""
        shape = (len(self.layers), 2, rows, self.kv_heads, length, self.head_dim)
        return torch.zeros(shape, dtype=self.embeddings.dtype, device=self.device)

    def forward(self, ids: Tensor, positions: Tensor, cache: Tensor, filled: int, mask: Tensor) -> Tensor:
        """Feed `ids` behind the `filled` positions of the cache.

        Args:
            ids: [rows, n] token ids.
            positions: [rows, n] their rotary positions.
            cache: as `cache()` makes it; written in place.
            filled: positions already in the cache.
            mask: [rows, n, seen] additive attention mask over the cache's first `seen` positions, in the model's dtype.

        Returns:
            [rows, n, width] hidden states after the final norm.
        """
        rows, count = ids.shape
        group = self.heads // self.kv_heads
        hidden = F.embedding(ids, self.embeddings)
        cos, sin = self.rotary(hidden, positions)
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
        grouped_mask = mask.repeat(1, group, 1)
        width = hidden.shape[-1]
        for layer, (keys, values) in zip(self.layers, cache, strict=True):
            normed = F.rms_norm(hidden, (width,), layer.attention_norm, self.epsilon)
            projected = F.linear(normed, layer.query_key_value).view(rows, count, -1, self.head_dim).transpose(1, 2)
            query, key, value = projected.split((self.heads, self.kv_heads, self.kv_heads), dim=1)
            keys[:, :, filled : filled + count] = rotate(key, cos, sin)
            values[:, :, filled : filled + count] = value
            # The query heads of one key-value head stand side by side, as extra query rows of that head.
            query = rotate(query, cos, sin).reshape(rows, self.kv_heads, group * count, self.head_dim)
            seen = (keys[:, :, : mask.shape[-1]], values[:, :, : mask.shape[-1]])
            mixed = (
                attend_once(query, *seen, mask)
                if count == 1
                else attend(query, *seen, grouped_mask)
            )
            mixed = mixed.reshape(rows, self.heads, count, self.head_dim).transpose(1, 2).reshape(rows, count, -1)
            hidden = hidden + F.linear(mixed, layer.attention_out)
            gate, up = F.linear(F.rms_norm(hidden, (width,), layer.mlp_norm, self.epsilon), layer.gate_up).chunk(
                2, dim=-1
            )
            hidden = hidden + F.linear(F.silu(gate) * up, layer.down)
        return F.rms_norm(hidden, (width,), self.norm, self.epsilon)

    def top(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[n, width] -> float32 logits [n, vocab] and the `keep` likeliest ids with their log-probabilities."""
        logits = F.linear(hidden, self.output).float()
        best, ids = logits.topk(self.keep, dim=-1)
        return logits, ids, best - logits.logsumexp(dim=-1, keepdim=True)

    @torch.inference_mode()
    def write(
        self,
        prompts: Sequence[Sequence[int]],
        temperatures: Sequence[float],
        stops: Sequence[int],
        max_new_tokens: int,
        stop_id: int,
        seed: int,
    ) -> list[Written]:
        """Continue every prompt at its own temperature.

        Args:
            prompts: token ids, best of similar lengths (rows are padded on the left); equal neighbours are read once.
            temperatures: one a prompt; 0 takes the likeliest token.
            stops: one a prompt; the row ends with its `stops`-th `stop_id`.
            max_new_tokens: the longest answer.
            stop_id: the end-of-turn token, kept as the last token of a row that ends with it.
            seed: of this batch alone; the same batch and seed give the same answers on the same machine.
        """
        rows, longest = len(prompts), max(map(len, prompts))
        padding = torch.tensor([longest - len(prompt) for prompt in prompts], device=self.device)
        padded = torch.tensor(
            [[stop_id] * (longest - len(prompt)) + list(prompt) for prompt in prompts], device=self.device
        )
        cache = self.cache(rows, longest)
        kept_ids = torch.zeros((rows, longest + max_new_tokens, self.keep), dtype=torch.int32)
        kept_logprobs = torch.zeros((rows, longest + max_new_tokens, self.keep), dtype=torch.float16)
        last = self._prefill(padded, padding, cache, kept_ids, kept_logprobs)

        generator = torch.Generator(device=self.device).manual_seed(seed)
        heat = torch.tensor(temperatures, device=self.device)
        left = torch.tensor(stops, device=self.device)
        answers: list[list[int]] = [[] for _ in prompts]
        alive = torch.arange(rows, device=self.device)
        key_mask = torch.full((rows, longest + max_new_tokens + GROWTH), MASKED, dtype=cache.dtype, device=self.device)
        key_mask[:, :longest].masked_fill_(torch.arange(longest, device=self.device) >= padding[:, None], 0.0)
        for step in range(max_new_tokens):
            uniforms = torch.rand(len(prompts), generator=generator, device=self.device)[alive]
            ids, logprobs, tokens = self._choose(last, heat, uniforms)
            kept_ids[alive.cpu(), longest + step - 1] = ids.int().cpu()
            kept_logprobs[alive.cpu(), longest + step - 1] = logprobs.half().cpu()
            for row, token in zip(alive.tolist(), tokens.tolist(), strict=True):
                answers[row].append(token)
            left = left - (tokens == stop_id).int()
            going = left > 0
            if not going.any():
                break
            if not going.all():
                alive, heat, left, tokens, key_mask = (
                    alive[going],
                    heat[going],
                    left[going],
                    tokens[going],
                    key_mask[going],
                )
                cache = _drop_rows(cache, going, longest + step)
            if longest + step == cache.shape[-2]:
                cache = F.pad(cache, (0, 0, 0, GROWTH))
            key_mask[:, longest + step] = 0.0
            positions = (longest + step - padding[alive])[:, None]
            mask = key_mask[:, None, : cache.shape[-2]]
            last = self.forward(tokens[:, None], positions, cache, longest + step, mask)[:, 0]

        return [
            Written(
                ids=[*prompt, *answer],
                prompt_length=len(prompt),
                top_ids=kept_ids[row, longest - len(prompt) : longest + len(answer) - 1],
                top_logprobs=kept_logprobs[row, longest - len(prompt) : longest + len(answer) - 1],
            )
            for row, (prompt, answer) in enumerate(zip(prompts, answers, strict=True))
        ]

    def score(self, rows: Sequence[Sequence[int]], prompt_lengths: Sequence[int]) -> list[Written]:
        """The target's distributions along texts that are written already."""
        nothing = [0.0] * len(rows)
        scored = self.write(rows, nothing, [1] * len(rows), max_new_tokens=0, stop_id=0, seed=0)
        return [replace(row, prompt_length=length) for row, length in zip(scored, prompt_lengths, strict=True)]

    def _choose(self, hidden: Tensor, temperatures: Tensor, uniforms: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Top ids, their log-probabilities and one drawn token a row; few rows at a time stay in the CPU's cache."""
        parts = []
        for start in range(0, len(hidden), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            logits, ids, logprobs = self.top(hidden[part])
            parts.append((ids, logprobs, draw(logits, ids, temperatures[part], uniforms[part])))
        ids, logprobs, tokens = zip(*parts, strict=True)
        return torch.cat(ids), torch.cat(logprobs), torch.cat(tokens)

    def _prefill(
        self, padded: Tensor, padding: Tensor, cache: Tensor, kept_ids: Tensor, kept_logprobs: Tensor
    ) -> Tensor:
        """Fill the cache with the prompts, block by block; the last hidden state of each: [rows, width].

        Short blocks see only what stands before them, so less is computed to be masked.
        """
        rows, longest = padded.shape
        last = torch.empty((rows, self.output.shape[1]), dtype=cache.dtype, device=self.device)
        # Equal rows with unequal padding are two prompts: one begins with the id that pads the other.
        same = (padded[1:] == padded[:-1]).all(dim=1) & (padding[1:] == padding[:-1])
        fresh = [0, *((~same).nonzero()[:, 0] + 1).tolist()]
        steps = torch.arange(longest, device=self.device)
        for group in torch.tensor(fresh, device=self.device).split(PREFILL_ROWS):
            part = self.cache(len(group), longest)
            shift = padding[group, None]
            for begin in range(0, longest, PREFILL_BLOCK):
                here, seen = steps[begin : begin + PREFILL_BLOCK], steps[: begin + PREFILL_BLOCK]
                visible = (here[None, :, None] >= seen[None, None, :]) & (seen[None, None, :] >= shift[:, None])
                mask = torch.zeros(visible.shape, dtype=cache.dtype, device=self.device).masked_fill_(~visible, MASKED)
                hidden = self.forward(padded[group][:, here], (here - shift).clamp(min=0), part, begin, mask)
                for row, states in zip(group.tolist(), hidden, strict=True):
                    first = max(begin, int(padding[row]))
                    if first < begin + len(here):
                        _, ids, logprobs = self.top(states[first - begin :])
                        kept_ids[row, first : begin + len(here)] = ids.int().cpu()
                        kept_logprobs[row, first : begin + len(here)] = logprobs.half().cpu()
            cache[:, :, group] = part
            last[group] = hidden[:, -1]
        for row in sorted(set(range(rows)) - set(fresh)):
            for kept in (last, kept_ids, kept_logprobs):
                kept[row] = kept[row - 1]
            cache[:, :, row] = cache[:, :, row - 1]
        return last


def draw(logits: Tensor, top_ids: Tensor, temperatures: Tensor, uniforms: Tensor) -> Tensor:
    """One id a row from softmax(logits / temperature), by inverse CDF with the likeliest ids first.

    The ids in `top_ids` nearly always hold the draw; the whole row is summed only when they don't.

    Args:
        logits: [rows, vocab] float32.
        top_ids: [rows, k] ids of the k largest logits, largest first.
        temperatures: [rows]; 0 takes the largest logit.
        uniforms: [rows] in [0, 1).
    """
    greedy = temperatures <= 0
    heat = torch.where(greedy, torch.ones_like(temperatures), temperatures)[:, None]
    highest = logits.gather(1, top_ids[:, :1])
    total = ((logits - highest) / heat).exp_().sum(dim=1, keepdim=True)
    cumulative = ((logits.gather(1, top_ids) - highest) / heat).exp().div(total).cumsum(dim=1)
    index = (cumulative <= uniforms[:, None]).sum(dim=1)
    outside = index >= top_ids.shape[1]
    tokens = top_ids.gather(1, index.clamp(max=top_ids.shape[1] - 1)[:, None])[:, 0]
    if bool(outside.any()):
        rest = ((logits[outside] - highest[outside]) / heat[outside]).exp().div(total[outside])
        rest.scatter_(1, top_ids[outside], 0.0)
        reach = rest.cumsum(dim=1)
        need = (uniforms[outside] - cumulative[outside, -1]).clamp(min=0)
        found = torch.searchsorted(reach, need[:, None], right=True)[:, 0].clamp(max=logits.shape[1] - 1)
        tokens[outside] = found
    return torch.where(greedy, top_ids[:, 0], tokens)


def _drop_rows(cache: Tensor, going: Tensor, filled: int) -> Tensor:
    """The cache of the rows still `going`, moved up in place over those that ended; a view of the same memory."""
    keep = going.nonzero()[:, 0].tolist()
    for to, row in enumerate(keep):
        if to != row:
            cache[:, :, to, :, :filled] = cache[:, :, row, :, :filled]
    return cache[:, :, : len(keep)]
