"""The decoder (3.1): N layers of masked self-attention, cross-attention and feed-forward.

Letters: B sentences, T target length, D d_model, N beams, R = B * N rows, P packed tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.attention import MultiHeadAttention, View, split_heads
from dragoman.model.cache import DecoderCache, LayerCache
from dragoman.model.feed_forward import FeedForward
from dragoman.model.sublayer import residual


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the memory, feed-forward, each inside its residual.

    Without ``cross`` it is a layer of a language model.

    >>> import torch
    >>> layer = DecoderLayer(ModelConfig(d_model=8, n_heads=2, d_ff=16), name="decoder.0")
    >>> layer(torch.ones(3, 5, 8), torch.ones(3, 7, 8), View(causal=True), View()).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, config: ModelConfig, *, name: str, cross: bool = True) -> None:
        super().__init__()
        self.order = config.norm
        self.dropout = config.dropout
        self.self_attention = MultiHeadAttention(config, name=f"{name}.self")
        self.self_attention_norm = nn.LayerNorm(config.d_model)
        self.cross_attention = MultiHeadAttention(config, name=f"{name}.cross") if cross else None
        self.cross_attention_norm = nn.LayerNorm(config.d_model) if cross else None
        self.feed_forward = FeedForward(config)
        self.feed_forward_norm = nn.LayerNorm(config.d_model)

    def forward(
        self, x: Tensor, memory: Tensor | None, self_view: View, cross_view: View
    ) -> Tensor:
        """(B, T, D) -> (B, T, D), or (P, D) -> (P, D)."""
        return self._sublayers(
            x,
            attend_self=lambda y: self.self_attention(y, None, self_view),
            attend_memory=lambda y: self._cross()(y, memory, cross_view),
        )

    def start(self, memory: Tensor | None, rows: int, capacity: int) -> LayerCache:
        """Empty buffers for ``rows`` hypotheses; keys and values of the memory (B, S, D)."""
        own = self.self_attention
        h, weight = own.n_heads, own.qkv.weight
        keys = weight.new_zeros(rows, h, capacity, own.widths[1] // h)
        values = weight.new_zeros(rows, h, capacity, own.widths[2] // h)
        if memory is None:
            return LayerCache(keys, values, None, None)
        memory_keys, memory_values = self._cross().project_memory(memory, None)
        return LayerCache(keys, values, memory_keys.contiguous(), memory_values.contiguous())

    def step(self, x: Tensor, kept: LayerCache, cache: DecoderCache, view: View) -> Tensor:
        """One more position of R hypotheses: (R, D) -> (R, D)."""
        return self._sublayers(
            x,
            attend_self=lambda y: self._step_self(y, kept, cache.length, view),
            attend_memory=lambda y: self._step_cross(y, kept, cache),
        )

    def _sublayers(
        self,
        x: Tensor,
        attend_self: Callable[[Tensor], Tensor],
        attend_memory: Callable[[Tensor], Tensor],
    ) -> Tensor:
        p = self.dropout if self.training else 0.0
        x = residual(x, attend_self, norm=self.self_attention_norm, order=self.order, dropout_p=p)
        if self.cross_attention_norm is not None:
            x = residual(
                x, attend_memory, norm=self.cross_attention_norm, order=self.order, dropout_p=p
            )
        return residual(
            x, self.feed_forward, norm=self.feed_forward_norm, order=self.order, dropout_p=p
        )

    def _step_self(self, x: Tensor, kept: LayerCache, length: int, view: View) -> Tensor:
        attention = self.self_attention
        q, k, v = attention.project(x[:, None], view)  # (R, H, 1, K)
        if view.rotation is not None:
            q, k = view.rotation(q), view.rotation(k)
        keys, values = kept.append(k, v, length)  # (R, H, length + 1, K)
        return attention.out(attention.attend(q, keys, values, view)[:, 0])

    def _step_cross(self, x: Tensor, kept: LayerCache, cache: DecoderCache) -> Tensor:
        attention = self._cross()
        if kept.memory_keys is None or kept.memory_values is None:
            raise ValueError("the cache holds no memory to attend to")
        rows = x.size(0)
        beams = attention.project_queries(x).view(rows // cache.n_beams, cache.n_beams, -1)
        q = split_heads(beams, attention.n_heads)  # (B, H, N, K): beams are queries of one sentence
        view = View(mask=cache.memory_mask)
        context = attention.attend(q, kept.memory_keys, kept.memory_values, view)  # (B, N, H * K)
        return attention.out(context.reshape(rows, -1))

    def _cross(self) -> MultiHeadAttention:
        if self.cross_attention is None:
            raise ValueError("a decoder-only layer has no cross-attention")
        return self.cross_attention


class Decoder(nn.Module):
    """The stack of decoder layers; in pre-norm a last norm closes it."""

    def __init__(self, config: ModelConfig, n_layers: int, *, cross: bool = True) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(config, name=f"decoder.{i}", cross=cross) for i in range(n_layers)
        )
        self.final_norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else None

    def forward(
        self, x: Tensor, memory: Tensor | None, self_view: View, cross_view: View
    ) -> Tensor:
        for layer in self.layers:
            x = layer(x, memory, self_view, cross_view)
        return x if self.final_norm is None else self.final_norm(x)

    def start(
        self,
        memory: Tensor | None,
        memory_mask: Tensor | None,
        *,
        rows: int,
        n_beams: int,
        capacity: int,
    ) -> DecoderCache:
        """Empty buffers for ``rows`` hypotheses, and the memory's keys and values of each layer."""
        kept = [layer.start(memory, rows, capacity) for layer in self._stack()]
        return DecoderCache(kept, memory_mask, n_beams)

    def step(self, x: Tensor, cache: DecoderCache, view: View) -> Tensor:
        """One more position of R hypotheses: (R, D) -> (R, D); the cache grows by one."""
        for layer, kept in zip(self._stack(), cache.layers, strict=True):
            x = layer.step(x, kept, cache, view)
        cache.length += 1
        return x if self.final_norm is None else self.final_norm(x)

    def _stack(self) -> list[DecoderLayer]:
        return cast("list[DecoderLayer]", list(self.layers))
