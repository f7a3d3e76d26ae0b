"""A decoding step of one row on a CPU, by NumPy: one sentence at a time, greedily.

With one row an operation of a small model is a few thousand products, which take less time than
PyTorch needs to begin it. NumPy begins one in a third of that. It works on the model's own memory,
weights and cache alike, and does what ``Decoder.step`` does; a test holds the two together.

Letters: D d_model, H heads, K d_k (or d_v), S source length, T longest target, M entries of a
cache, t positions so far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dragoman.config import ModelConfig, Norm
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.cache import DecoderCache, LayerCache
from dragoman.model.decoder import Decoder, DecoderLayer
from dragoman.model.embeddings import Embedding

Array = NDArray[np.floating]

WIDEST = 256  # wider models keep PyTorch busy, even with one row


def is_one_row(config: ModelConfig, weight: Tensor, cache: DecoderCache) -> bool:
    """Whether this model can decode what is in this cache by NumPy, and is faster so."""
    one_row = cache.layers[0].keys.size(0) * cache.n_beams == 1
    is_added = config.positions == "sinusoidal" or (
        config.positions == "learned" and cache.capacity <= config.max_positions
    )
    return (
        one_row
        and cache.memory_view.mask is None
        and is_added
        and config.d_model <= WIDEST
        and weight.device.type == "cpu"
        and weight.dtype in (torch.float32, torch.float64)
        and torch.is_inference_mode_enabled()
        and config.activation == "relu"
        and config.window is None
    )


class OneRow:
    """The decoder over one sentence; made for a cache, whose memory it writes to."""

    def __init__(
        self,
        decoder: Decoder,
        embedding: Embedding,
        positions: nn.Module,
        cache: DecoderCache,
    ) -> None:
        layers = zip(decoder.stack(), cache.layers, strict=True)
        self._layers = [_Layer.of(layer, kept) for layer, kept in layers]
        self._final_norm = None if decoder.final_norm is None else _Norm.of(decoder.final_norm)
        self._embedding = _array(embedding.weight)
        self._positions = _array(positions(cache.capacity, embedding.weight))
        self._scale = math.sqrt(self._embedding.shape[1])

    def step(self, ids: Tensor, cache: DecoderCache) -> Tensor:
        """The decoder's state after one more token: (1,) -> (1, D)."""
        if cache.length >= cache.capacity:
            raise IndexError(f"the cache is full: it has room for {cache.length} positions")
        x = self._embedding[int(ids)] * self._scale + self._positions[cache.length]
        for layer in self._layers:
            x = layer.step(x, cache.length)
        cache.length += 1
        x = x if self._final_norm is None else self._final_norm(x)
        return torch.from_numpy(x)[None]


@dataclass(frozen=True)
class _Layer:
    """A decoder layer, with its keys and values."""

    order: Norm
    self_attention: _Attention
    cross_attention: _Attention
    inner: _Linear
    outer: _Linear
    norms: tuple[_Norm, _Norm, _Norm]
    keys: Array  # (H, T, K)
    values: Array
    memory_keys: Array  # (H, S, K)
    memory_values: Array

    @staticmethod
    def of(layer: DecoderLayer, kept: LayerCache) -> _Layer:
        cross, cross_norm = layer.cross_attention, layer.cross_attention_norm
        memory_keys, memory_values = kept.memory_keys, kept.memory_values
        if cross is None or cross_norm is None or memory_keys is None or memory_values is None:
            raise ValueError("a decoder-only layer has no cross-attention")
        norms = (layer.self_attention_norm, cross_norm, layer.feed_forward_norm)
        first, second, third = map(_Norm.of, norms)
        return _Layer(
            layer.order,
            _Attention.of(layer.self_attention, n_projected=sum(layer.self_attention.widths)),
            _Attention.of(cross, n_projected=cross.widths[0]),
            _Linear.of(layer.feed_forward.w1),
            _Linear.of(layer.feed_forward.w2),
            (first, second, third),
            keys=_array(kept.keys)[0],
            values=_array(kept.values)[0],
            memory_keys=_array(memory_keys)[0],
            memory_values=_array(memory_values)[0],
        )

    def step(self, x: Array, t: int) -> Array:
        """(D,) -> (D,)."""
        one, two, three = self.norms
        if self.order == "pre":
            x = x + self._attend_self(one(x), t)
            x += self._attend_memory(two(x))
            x += self._feed_forward(three(x))
            return x
        x = one(x + self._attend_self(x, t))
        x = two(x + self._attend_memory(x))
        return three(x + self._feed_forward(x))

    def _attend_self(self, x: Array, t: int) -> Array:
        attention = self.self_attention
        qkv = attention.project(x)
        queries_end, keys_end = attention.ends
        n_heads = attention.n_heads
        self.keys[:, t] = qkv[queries_end:keys_end].reshape(n_heads, -1)
        self.values[:, t] = qkv[keys_end:].reshape(n_heads, -1)
        end = t + 1
        return attention.out(attend(qkv[:queries_end], self.keys[:, :end], self.values[:, :end]))

    def _attend_memory(self, x: Array) -> Array:
        attention = self.cross_attention
        return attention.out(attend(attention.project(x), self.memory_keys, self.memory_values))

    def _feed_forward(self, x: Array) -> Array:
        inner = self.inner(x)
        return self.outer(np.maximum(inner, 0, out=inner))


@dataclass(frozen=True)
class _Linear:
    weight: Array  # (out, in)
    bias: Array

    @staticmethod
    def of(linear: nn.Linear, n_out: int | None = None) -> _Linear:
        """The first ``n_out`` outputs of a linear map; all, if not given."""
        return _Linear(_array(linear.weight)[:n_out], _array(linear.bias)[:n_out])

    def __call__(self, x: Array) -> Array:
        y: Array = self.weight @ x
        y += self.bias
        return y


@dataclass(frozen=True)
class _Attention:
    project: _Linear  # to queries, keys and values, or to queries alone
    out: _Linear
    n_heads: int
    ends: tuple[int, int]  # where the queries end, and the keys

    @staticmethod
    def of(attention: MultiHeadAttention, *, n_projected: int) -> _Attention:
        n = attention.widths[0]
        project = _Linear.of(attention.qkv, n_projected)
        return _Attention(project, _Linear.of(attention.out), attention.n_heads, (n, 2 * n))


@dataclass(frozen=True)
class _Norm:
    weight: Array
    bias: Array
    eps: float

    @staticmethod
    def of(norm: nn.LayerNorm) -> _Norm:
        return _Norm(_array(norm.weight), _array(norm.bias), norm.eps)

    def __call__(self, x: Array) -> Array:
        """Mean 0 and variance 1, then scaled and moved: (D,) -> (D,)."""
        n = len(x)
        x = x - np.add.reduce(x) / n
        x *= 1 / math.sqrt(x @ x / n + self.eps)
        x *= self.weight
        x += self.bias
        return x


def attend(q: Array, k: Array, v: Array) -> Array:
    """softmax(q Kᵀ / √d_k) V, heads side by side: (H * K,), twice (H, M, K) -> (H * K,).

    >>> keys = np.eye(2, dtype=np.float32)[None]
    >>> attend(np.zeros(2, np.float32), keys, 4 * keys).tolist()
    [2.0, 2.0]
    """
    n_heads, _, width = k.shape
    scores = k @ q.reshape(n_heads, width, 1)  # (H, M, 1)
    scores *= 1 / math.sqrt(width)
    scores -= np.maximum.reduce(scores, axis=1, keepdims=True)
    weights = np.exp(scores, out=scores)
    weights /= np.add.reduce(weights, axis=1, keepdims=True)
    return (weights.transpose(0, 2, 1) @ v).reshape(-1)


def _array(x: Tensor) -> Array:
    """The tensor's own memory, as NumPy sees it."""
    found: Array = x.detach().numpy()
    return found
