"""Parts of encoder and decoder layers, in the part of Python that TorchScript knows.

``whole_encoder.py`` and ``whole_step.py`` put them together. What they mean stands in
``embeddings.py``, ``rotary.py``, ``attention.py`` and ``feed_forward.py``; these are the same
numbers for a CPU and a model at rest.

Letters: B sentences, N queries a sentence, R = B * N rows, D d_model, H heads, K d_k (or d_v),
M keys, F d_ff.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional


def embedded(vectors: Tensor, places: Tensor) -> Tensor:
    """What enters the first layer: the vectors scaled by √D, at their places: (R, D)."""
    scale = math.sqrt(vectors.size(1))
    if places.is_complex():
        return vectors.mul_(scale)
    return torch.add(places, vectors, alpha=scale)


def turn(qkv: Tensor, places: Tensor) -> None:
    """Turn queries and keys where they lie, (…, 3, H, K), if positions are rotary."""
    if places.is_complex():
        pairs = torch.view_as_complex(torch.unflatten(qkv, -1, [-1, 2]))  # (…, 3, H, K / 2)
        pairs.narrow(-3, 0, 2).mul_(places)


def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
    """The values attended to: (B * H, N, K), twice (B * H, M, K) -> (B * H, N, K).

    Few queries a sentence are faster by batched products than by the fused kernel.
    """
    scores = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=1 / math.sqrt(q.size(2)))
    return torch.bmm(torch.softmax(scores, dim=-1), v)


def rows_of(x: Tensor, n_heads: int) -> Tensor:
    """The heads side by side: (B * H, N, K) -> (R, H * K)."""
    n_beams, width = x.size(1), x.size(2)
    if n_beams == 1:
        return x.view(-1, n_heads * width)
    return x.view(-1, n_heads, n_beams, width).transpose(1, 2).reshape(-1, n_heads * width)


def feed_forward(x: Tensor, w: list[Tensor], is_pre: bool, activation: str) -> Tensor:
    """The feed-forward network inside its residual, by norm and maps in this order: (R, D)."""
    y = functional.layer_norm(x, [x.size(1)], w[0], w[1]) if is_pre else x
    y = activate(torch.addmm(w[3], y, w[2]), activation)
    x = x.addmm_(y, w[4]).add_(w[5])
    return x if is_pre else functional.layer_norm(x, [x.size(1)], w[0], w[1])


def activate(inner: Tensor, activation: str) -> Tensor:
    """What stands between the two maps of the feed-forward network: (R, F or 2 F) -> (R, F)."""
    if activation == "relu":
        return inner.relu_()
    if activation == "gelu":
        return functional.gelu(inner)
    gate, up = inner.chunk(2, dim=-1)
    return functional.silu(gate) * up
