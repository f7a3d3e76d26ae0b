"""Attention on a CPU where sentences are short: plain products, and their gradient.

PyTorch's fused kernel is made for long sequences, whose weights are better not stored. On a CPU it
works head by head, and a head of a short sentence is a product of a few hundred numbers. Here all
heads of the batch go into one batched product each, and the weights, which are small, are kept for
the backward pass:

    P = softmax(Q Kᵀ / √d_k),  O = P V
    dV = Pᵀ dO,  dP = dO Vᵀ,  dS = P ∘ (dP - rowsum(dP ∘ P)) / √d_k,  dQ = dS K,  dK = dSᵀ Q

Letters: B sentences, H heads, L query length, M key length, K d_k (and d_v),
M' keys with those added.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

SHORT = 48  # queries or keys; a longer sentence is better left to the fused kernel
# PyTorch's softmax takes rows of fewer numbers one by one: 14 take seven times as long as 16. Where
# there are fewer keys, some that nobody may look at are added.
LEAST_KEYS = 16


def is_short(q: Tensor, k: Tensor, mask: Tensor | None) -> bool:
    """Whether this is the faster way to attend: on a CPU, among few tokens or for one query."""
    return (
        q.device.type == "cpu"
        and (q.size(2) == 1 or max(q.size(2), k.size(2)) <= SHORT)
        and (mask is None or mask.dtype == torch.bool)
        and not torch.compiler.is_compiling()
    )


def short_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """The attended values: (B, H, L, K), (B, H, M, K), (B, H, M, K) -> (B, H, L, K).

    The mask, (B or 1, 1, 1 or L, M), is True where a query may look; one that sees nothing
    gets zeros.

    >>> q = k = v = torch.eye(2)[None, None].requires_grad_()
    >>> short_attention(q, k, v, torch.tensor([[[[True, False]]]]))[0, 0].tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    return _ShortAttention.apply(q, k, v, mask)  # type: ignore[no-untyped-call]


def _lengthened(x: Tensor) -> Tensor:
    """Keys or values of each head, with zeros behind where they are few: (B * H, M', K)."""
    x = x.reshape(x.size(0) * x.size(1), x.size(2), x.size(3))
    lacking = LEAST_KEYS - x.size(1)
    return functional.pad(x, [0, 0, 0, lacking]) if lacking > 0 else x


def _weights(q: Tensor, k: Tensor, mask: Tensor | None, n_heads: int, n_keys: int) -> Tensor:
    """softmax(Q Kᵀ / √d_k): (B * H, L, K), (B * H, M', K) -> (B * H, L, M').

    The last of the M' keys, all but ``n_keys``, get no weight.
    """
    scores = torch.bmm(q, k.transpose(1, 2)).mul_(1 / math.sqrt(q.size(2)))
    scores[:, :, n_keys:] = -math.inf
    if mask is None:
        return torch.softmax(scores, dim=-1)
    by_head = (q.size(0) // n_heads, n_heads, *scores.shape[1:])
    scores.view(by_head)[..., :n_keys].masked_fill_(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    weights.view(by_head)[..., :n_keys].masked_fill_(~mask, 0.0)
    return weights


class _ShortAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        b, h, length, _ = q.shape
        ctx.n_keys = k.size(2)
        q, k, v = q.reshape(b * h, length, q.size(3)), _lengthened(k), _lengthened(v)
        weights = _weights(q, k, mask, h, ctx.n_keys)  # (B * H, L, M')
        ctx.save_for_backward(q, k, v, weights)
        return torch.bmm(weights, v).view(b, h, length, v.size(2))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, weights = ctx.saved_tensors
        b, h = d_out.shape[:2]
        d_out = d_out.reshape(b * h, d_out.size(2), d_out.size(3))
        d_v = torch.bmm(weights.transpose(1, 2), d_out)
        d_weights = torch.bmm(d_out, v.transpose(1, 2))
        d_scores = torch._softmax_backward_data(d_weights, weights, -1, weights.dtype)
        d_scores.mul_(1 / math.sqrt(q.size(2)))
        d_q, d_k = torch.bmm(d_scores, k), torch.bmm(d_scores.transpose(1, 2), q)
        d_q, d_k, d_v = (part.view(b, h, *part.shape[1:]) for part in (d_q, d_k, d_v))
        return d_q, d_k[:, :, : ctx.n_keys], d_v[:, :, : ctx.n_keys], None
