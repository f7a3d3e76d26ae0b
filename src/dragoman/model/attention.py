"""Attention (3.2): softmax(Q Kᵀ / √d_k) V, and many heads of it side by side.

Two ways to the same numbers: ``scaled_dot_product_attention`` shows the weights and is the text;
``fused_attention`` is PyTorch's kernel, which never stores them, and is what runs when nobody
looks. A test holds them equal.

Letters: B sentences, L query length, M key length, D d_model, H heads, K d_k (and d_v).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.config import ModelConfig
from dragoman.model.dropout import dropout
from dragoman.model.packing import Packing
from dragoman.model.rotary import Rotation
from dragoman.model.short_attention import is_short, short_attention


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, dropout_p: float = 0.0
) -> tuple[Tensor, Tensor]:
    """The attended values and the weights: (B, H, L, K), (B, H, M, K), (B, H, M, K) -> both.

    A query with nothing to attend gives zeros, never NaN.

    >>> q = k = v = torch.eye(2)[None, None]
    >>> out, weights = scaled_dot_product_attention(q, k, v, torch.tensor([True, False]))
    >>> weights[0, 0].tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (B, H, L, M)
    if mask is not None:
        # The lowest finite number, not -inf: a row with nothing to see must not become NaN.
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)  # (B, H, L, M)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    out = dropout(weights, dropout_p, training=dropout_p > 0) @ v  # (B, H, L, K)
    return out, weights


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> Tensor:
    """The attended values alone, by PyTorch's fused kernel or, where that is slow, by products."""
    if is_short(q, k, mask):
        if causal:
            mask = torch.ones(1, 1, q.size(2), k.size(2), dtype=torch.bool).tril()
        return short_attention(q, k, v, mask)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)


@dataclass
class Probe:
    """What a reader wants to see of, or change in, the attention of one forward pass.

    ``weights`` fills with (B, H, L, M) under names such as ``encoder.0.self``, ``decoder.2.cross``;
    ``head_gates`` scales the output of single heads by name, (H,): 0 switches a head off.
    """

    weights: dict[str, Tensor] = field(default_factory=dict)
    head_gates: dict[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """What the queries of one attention layer may look at, and how tokens are laid out."""

    mask: Tensor | None = None  # (B, 1, 1 or L, M), True = may attend
    causal: bool = False  # the mask is the causal one and need not be made
    queries: Packing | None = None  # how the queries are packed, if they are
    keys: Packing | None = None  # the same of keys and values
    rotation: Rotation | None = None  # rotary positions, where the model uses them
    probe: Probe | None = None

    def full_mask(self, n_queries: int, n_keys: int, device: torch.device) -> Tensor | None:
        """The mask as a tensor, also where it is only promised."""
        if not self.causal:
            return self.mask
        return torch.ones(n_queries, n_keys, dtype=torch.bool, device=device).tril()


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Give each head its own slice of the width: (B, L, H * K) -> (B, H, L, K)."""
    b, length, width = x.shape
    return x.view(b, length, n_heads, width // n_heads).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads side by side again: (B, H, L, K) -> (B, L, H * K)."""
    b, h, length, k = x.shape
    return x.transpose(1, 2).reshape(b, length, h * k)


class MultiHeadAttention(nn.Module):
    """Heads that attend in parallel: Concat(head_1 … head_h) W^O (3.2.2).

    The projections of queries, keys and values are rows of one matrix, in this order, so that
    self-attention makes all three with one product. ``x`` and ``memory`` are (B, L, D), or (P, D)
    where the view says that they are packed.

    >>> attention = MultiHeadAttention(ModelConfig(d_model=8, n_heads=2), name="self")
    >>> attention(torch.ones(3, 5, 8), None, View()).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, config: ModelConfig, *, name: str) -> None:
        super().__init__()
        d_k, d_v = config.head_sizes
        self.name = name
        self.n_heads = config.n_heads
        self.widths = [config.n_heads * d_k, config.n_heads * d_k, config.n_heads * d_v]
        self.dropout = config.attention_dropout
        self.qkv = nn.Linear(config.d_model, sum(self.widths))
        self.out = nn.Linear(config.n_heads * d_v, config.d_model)

    def forward(self, x: Tensor, memory: Tensor | None, view: View) -> Tensor:
        """x attends to memory, or to itself where memory is None; gives the shape of x."""
        q, k, v = self.project(x, view) if memory is None else self.project_cross(x, memory, view)
        if view.rotation is not None:
            q, k = view.rotation(q), view.rotation(k)
        context = self.attend(q, k, v, view)
        packing = view.queries
        return self.out(context if packing is None else packing.pack(context))

    def project(self, x: Tensor, view: View) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of x itself: three times (B, H, L, K)."""
        qkv = _rectangle(self.qkv(x), view.queries)  # (B, L, 3 * H * K)
        q, k, v = torch.split(qkv, self.widths, dim=-1)
        return (
            split_heads(q, self.n_heads),
            split_heads(k, self.n_heads),
            split_heads(v, self.n_heads),
        )

    def project_cross(self, x: Tensor, memory: Tensor, view: View) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of x, (B, H, L, K), with keys and values of memory, (B, H, M, K)."""
        q = split_heads(_rectangle(self.project_queries(x), view.queries), self.n_heads)
        k, v = self.project_memory(memory, view.keys)
        return q, k, v

    def project_queries(self, x: Tensor) -> Tensor:
        """The queries of all heads side by side: (…, D) -> (…, H * K)."""
        n = self.widths[0]
        return functional.linear(x, self._rows(0), self.qkv.bias[:n])

    def project_memory(self, memory: Tensor, packing: Packing | None) -> tuple[Tensor, Tensor]:
        """Keys and values of memory: twice (B, H, M, K)."""
        n = self.widths[0]
        kv = functional.linear(memory, self._rows(1), self.qkv.bias[n:])
        k, v = torch.split(_rectangle(kv, packing), self.widths[1:], dim=-1)
        return split_heads(k, self.n_heads), split_heads(v, self.n_heads)

    def _rows(self, part: int) -> Tensor:
        """The rows of the matrix that make queries (part 0), or keys and values (part 1)."""
        n = self.widths[0]
        return torch.split(self.qkv.weight, [n, self.qkv.weight.size(0) - n])[part]

    def attend(self, q: Tensor, k: Tensor, v: Tensor, view: View) -> Tensor:
        """The values attended to by every head, side by side: (B, L, H * K)."""
        dropout_p = self.dropout if self.training else 0.0
        if view.probe is None and dropout_p == 0.0:
            return merge_heads(fused_attention(q, k, v, view.mask, causal=view.causal))
        mask = view.full_mask(q.size(2), k.size(2), q.device)
        out, weights = scaled_dot_product_attention(q, k, v, mask, dropout_p=dropout_p)
        if view.probe is not None:
            view.probe.weights[self.name] = weights
            gates = view.probe.head_gates.get(self.name)
            out = out if gates is None else out * gates.to(out)[:, None, None]
        return merge_heads(out)


def _rectangle(x: Tensor, packing: Packing | None) -> Tensor:
    """x as (B, L, E), whether it came packed or not."""
    return x if packing is None else packing.pad(x)
