"""The decoder (3.1): N layers of masked self-attention, cross-attention and feed-forward.

Letters: B sentences, T target length, D d_model, N beams, R = B * N hypotheses, H heads, K d_k,
P packed tokens, t positions so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.attention import MultiHeadAttention, View
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

    def start(
        self,
        made: tuple[Tensor, Tensor] | None,
        *,
        n_sentences: int,
        n_beams: int,
        capacity: int,
    ) -> LayerCache:
        """An empty buffer for all hypotheses, and the keys and values of the memory."""
        attention = self.self_attention
        shapes = [
            (n_sentences, attention.n_heads, capacity * n_beams, width // attention.n_heads)
            for width in attention.widths[1:]
        ]
        keys, values = (attention.qkv.weight.new_empty(shape) for shape in shapes)
        memory_keys, memory_values = (None, None) if made is None else made
        return LayerCache(keys, values, memory_keys, memory_values)

    def read(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of the memory: (B, S, D) -> twice (B, H, S, K)."""
        keys, values = self._cross().project_memory(memory, None)
        return keys.contiguous(), values.contiguous()

    def step(self, x: Tensor, kept: LayerCache, cache: DecoderCache, view: View) -> Tensor:
        """One more position of each hypothesis: (R, D) -> (R, D)."""
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
        attention, n_sentences = self.self_attention, kept.keys.size(0)
        parts = attention.qkv(x).split(attention.widths, dim=-1)
        q, k, v = (split_rows(part, n_sentences, attention.n_heads) for part in parts)
        if view.rotation is not None:
            q, k = view.rotation(q), view.rotation(k)
        k, v = kept.append(k, v, length)  # (B, H, (t + 1) * N, K)
        return attention.out(attention.attend(q, k, v, view).flatten(0, 1))

    def _step_cross(self, x: Tensor, kept: LayerCache, cache: DecoderCache) -> Tensor:
        attention = self._cross()
        if kept.memory_keys is None or kept.memory_values is None:
            raise ValueError("the cache holds no memory to attend to")
        q = split_rows(attention.project_queries(x), kept.keys.size(0), attention.n_heads)
        context = attention.attend(q, kept.memory_keys, kept.memory_values, cache.memory_view)
        return attention.out(context.flatten(0, 1))

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

    def read(self, memory: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Keys and values of the memory (B, S, D) in each layer."""
        return [layer.read(memory) for layer in self.stack()]

    def start(
        self,
        made: Sequence[tuple[Tensor, Tensor]] | None,
        memory_mask: Tensor | None,
        *,
        n_sentences: int,
        n_beams: int,
        capacity: int,
    ) -> DecoderCache:
        """An empty buffer in each layer beside the keys and values of the memory, if there is one.

        ``made`` is what ``read`` gives.
        """
        stack = self.stack()
        of_layers = [None] * len(stack) if made is None else made
        kept = [
            layer.start(each, n_sentences=n_sentences, n_beams=n_beams, capacity=capacity)
            for layer, each in zip(stack, of_layers, strict=True)
        ]
        return DecoderCache(kept, View(mask=memory_mask), n_beams)

    def step(self, x: Tensor, cache: DecoderCache, view: View) -> Tensor:
        """One more position of each hypothesis; the cache grows by one: (R, D) -> (R, D)."""
        for layer, kept in zip(self.stack(), cache.layers, strict=True):
            x = layer.step(x, kept, cache, view)
        cache.length += 1
        return x if self.final_norm is None else self.final_norm(x)

    def stack(self) -> list[DecoderLayer]:
        """The layers, first to last."""
        return cast("list[DecoderLayer]", list(self.layers))


def split_rows(x: Tensor, n_sentences: int, n_heads: int) -> Tensor:
    """Give each head its slice of the rows of a step: (R, H * K) -> (B, H, N, K)."""
    return x.view(n_sentences, -1, n_heads, x.size(1) // n_heads).transpose(1, 2)
