"""All layers of a decoding step on a CPU in one call, which Python begins and does not return to.

A step of a small model is two hundred operations that take less time than Python needs to begin
them, and two batches on two cores wait for each other at each, as Python runs one thread at a time.
TorchScript goes through all of them alone. What is written here is ``Decoder.step`` once more, in
the part of Python that TorchScript knows; a test holds the two together. Where a PyTorch has no
TorchScript, or a model has more than it knows, ``Decoder.step`` it is.

Letters: B sentences, N beams, R = B * N rows, D d_model, H heads, K d_k (or d_v), S source length,
T longest target, M entries of a cache, t positions so far, F d_ff.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.config import ModelConfig
from dragoman.model.attention import MultiHeadAttention, View
from dragoman.model.cache import DecoderCache, LayerCache
from dragoman.model.decoder import Decoder, DecoderLayer
from dragoman.model.embeddings import Embedding
from dragoman.model.rotary import Rotation
from dragoman.model.scripted import compiled
from dragoman.model.scripted_layers import attend, embedded, feed_forward, rows_of, turn
from dragoman.model.short_attention import LEAST_KEYS

Buffers = tuple[Tensor, Tensor, Tensor, Tensor]
Layers = tuple[
    Tensor, Tensor, list[list[Tensor]], list[Tensor], list[Buffers], Tensor, int, bool, str
]
"""The last arguments of ``step_through``."""


def knows(config: ModelConfig, weight: Tensor, mask: Tensor | None, *, capacity: int) -> bool:
    """Whether this model can go through its layers in one call.

    ``mask``, (B, 1, 1, S), is True where the sources have tokens; ``capacity`` is how many
    positions there will be.
    """
    has_places = config.positions != "learned" or capacity <= config.max_positions
    d_k, d_v = config.head_sizes
    return (
        has_places
        and d_k == d_v
        and config.window is None
        and weight.device.type == "cpu"
        and torch.is_inference_mode_enabled()
        and (mask is None or bool(mask.any(-1).all()))  # there is something to attend to
        and _scripted() is not None
    )


def places_of(
    config: ModelConfig, positions: nn.Module | None, length: int, *, like: Tensor
) -> Tensor:
    """What tells one place from another, as functions in one call take it.

    Numbers to add to the embeddings, (L, D); for rotary positions complex numbers that turn queries
    and keys, (L, K / 2).
    """
    if positions is None:
        return Rotation.at(torch.arange(length), config.head_sizes[0], like.dtype).turns
    table: Tensor = positions(length, like)
    return table


class WholeStep:
    """The decoder of a model, ready to go through its layers in one call."""

    def __init__(
        self, decoder: Decoder, embedding: Embedding, places: Tensor, cache: DecoderCache
    ) -> None:
        first = decoder.stack()[0]
        self._weights = [_weights_of(layer) for layer in decoder.stack()]
        self._final_norm = norm_of(decoder.final_norm) if decoder.final_norm is not None else []
        self._embedding = embedding.weight
        self._places = places  # (T, D) or (T, K / 2)
        self._n_heads = first.self_attention.n_heads
        self._is_pre, self._activation = first.order == "pre", first.feed_forward.activation
        self._steps = _scripted()
        _give_least_keys(cache)
        self._look_at(cache)

    def __call__(self, ids: Tensor, cache: DecoderCache) -> Tensor:
        """The decoder's states after one more token of each hypothesis: (R,) -> (R, D)."""
        if cache.length >= cache.capacity:
            raise IndexError(f"the cache is full: it has room for {cache.length} positions")
        if self._steps is None:
            raise RuntimeError("this PyTorch has no TorchScript")
        cache.open_position()
        x = self._steps(ids, cache.ancestors, cache.length, *self.layers(cache))
        cache.length += 1
        return x

    def layers(self, cache: DecoderCache) -> Layers:
        """What ``step_through`` wants to know of the model and of what lies in the cache."""
        if cache.layers[0].keys is not self._seen:  # sentences have left
            self._look_at(cache)
        return (
            self._embedding,
            self._places,
            self._weights,
            self._final_norm,
            self._kept,
            self._memory_bias,
            self._n_heads,
            self._is_pre,
            self._activation,
        )

    def _look_at(self, cache: DecoderCache) -> None:
        """Take keys and values as they lie in the cache, all heads of all sentences in a row."""
        self._seen = cache.layers[0].keys
        self._kept = [_buffers_of(layer) for layer in cache.layers]
        mask = cache.memory_view.mask
        self._memory_bias = bias_of_mask(mask, self._n_heads, like=self._embedding)


def _buffers_of(layer: LayerCache) -> Buffers:
    """Keys and values of a layer, and those of the memory: (B * H, M, K) each."""
    if layer.memory_keys is None or layer.memory_values is None:
        raise ValueError("the cache holds no memory to attend to")
    keys, values = layer.keys, layer.values  # views, as the step writes into them
    return (
        keys.view(-1, *keys.shape[2:]),
        values.view(-1, *values.shape[2:]),
        layer.memory_keys.flatten(0, 1),
        layer.memory_values.flatten(0, 1),
    )


def _give_least_keys(cache: DecoderCache) -> None:
    """Make the memory as long as a fast softmax needs it, and what lies ahead in the cache zero."""
    lacking = 0
    for layer in cache.layers:
        layer.keys[:, :, :LEAST_KEYS].zero_()
        layer.values[:, :, :LEAST_KEYS].zero_()
        if layer.memory_keys is not None and layer.memory_values is not None:
            lacking = LEAST_KEYS - layer.memory_keys.size(2)
            if lacking > 0:
                layer.memory_keys = functional.pad(layer.memory_keys, [0, 0, 0, lacking])
                layer.memory_values = functional.pad(layer.memory_values, [0, 0, 0, lacking])
    if lacking > 0:
        n_sentences = cache.layers[0].keys.size(0)
        mask = lengthened_mask(cache.memory_view.mask, n_sentences, LEAST_KEYS - lacking)
        cache.memory_view = View(mask=mask)


def lengthened_mask(mask: Tensor | None, n_sentences: int, length: int) -> Tensor | None:
    """The mask of sources, (B, 1, 1, S), where there are fewer than a fast softmax needs."""
    lacking = LEAST_KEYS - length
    if lacking <= 0:
        return mask
    if mask is None:
        mask = torch.ones(n_sentences, 1, 1, length, dtype=torch.bool)
    return functional.pad(mask, [0, lacking])


def bias_of_mask(mask: Tensor | None, n_heads: int, *, like: Tensor) -> Tensor:
    """What is added to scores: 0, or -inf where there is nothing: (B, 1, 1, S) -> (B * H, 1, S)."""
    if mask is None:
        return like.new_zeros(1, 1, 1)
    bias = like.new_zeros(mask.shape).masked_fill_(~mask, -math.inf)
    return bias.expand(-1, n_heads, -1, -1).reshape(-1, 1, mask.size(3))


def _scripted() -> Callable[..., Tensor] | None:
    return compiled(step_through)


def norm_of(norm: nn.LayerNorm) -> list[Tensor]:
    """Its gain and its bias."""
    return [norm.weight, norm.bias]


def linear_of(linear: nn.Linear, n_out: int | None = None) -> list[Tensor]:
    """The matrix, (in, out), and the bias of a linear map, or of its first ``n_out`` outputs."""
    if n_out is None:
        return [linear.weight.t(), linear.bias]
    return [linear.weight[:n_out].t(), linear.bias[:n_out]]


def _weights_of(layer: DecoderLayer) -> list[Tensor]:
    """The weights of a layer, in the order in which ``step_through`` meets them."""
    own, cross, norm = layer.self_attention, layer.cross_attention, layer.cross_attention_norm
    if not isinstance(cross, MultiHeadAttention) or norm is None:
        raise ValueError("a decoder-only layer has no cross-attention")
    return [
        *norm_of(layer.self_attention_norm),
        *linear_of(own.qkv),
        *linear_of(own.out),
        *norm_of(norm),
        *linear_of(cross.qkv, cross.widths[0]),
        *linear_of(cross.out),
        *norm_of(layer.feed_forward_norm),
        *linear_of(layer.feed_forward.w1),
        *linear_of(layer.feed_forward.w2),
    ]


# --- what TorchScript goes through ---------------------------------------------------------------


def step_through(
    ids: Tensor,
    ancestors: Tensor | None,
    length: int,
    embedding: Tensor,
    places: Tensor,
    weights: list[list[Tensor]],
    final_norm: list[Tensor],
    kept: list[tuple[Tensor, Tensor, Tensor, Tensor]],
    memory_bias: Tensor,
    n_heads: int,
    is_pre: bool,
    activation: str,
) -> Tensor:
    """Embedding and all layers, ``length`` tokens having been said before: (R,) -> (R, D)."""
    d_model, n_rows = embedding.size(1), ids.size(0)
    n_beams = n_rows * n_heads // kept[0][0].size(0)
    before, written = length * n_beams, (length + 1) * n_beams
    n_entries = min(max(written, 16), kept[0][0].size(1))  # LEAST_KEYS
    bias = bias_of_entries(ancestors, written, n_entries, n_heads, embedding)
    x = embedded(functional.embedding(ids, embedding), places[length])
    for w, (keys, values, memory_keys, memory_values) in zip(weights, kept):  # noqa: B905
        width = keys.size(2)
        # masked self-attention
        y = functional.layer_norm(x, [d_model], w[0], w[1]) if is_pre else x
        y = torch.addmm(w[3], y, w[2]).view(-1, n_beams, 3, n_heads, width)
        turn(y, places[length])
        y = y.permute(2, 0, 3, 1, 4)  # (3, B, H, N, K)
        q = y[0].reshape(-1, n_beams, width)
        keys.narrow(1, before, n_beams).view_as(y[1]).copy_(y[1])
        values.narrow(1, before, n_beams).view_as(y[2]).copy_(y[2])
        keys, values = keys.narrow(1, 0, n_entries), values.narrow(1, 0, n_entries)
        y = rows_of(attend(q, keys, values, bias), n_heads)
        x = x.addmm_(y, w[4]).add_(w[5])
        x = x if is_pre else functional.layer_norm(x, [d_model], w[0], w[1])
        # attention to the memory
        y = functional.layer_norm(x, [d_model], w[6], w[7]) if is_pre else x
        y = torch.addmm(w[9], y, w[8]).view(-1, n_beams, n_heads, width)
        q = y.transpose(1, 2).reshape(-1, n_beams, width)
        y = rows_of(attend(q, memory_keys, memory_values, memory_bias), n_heads)
        x = x.addmm_(y, w[10]).add_(w[11])
        x = x if is_pre else functional.layer_norm(x, [d_model], w[6], w[7])
        x = feed_forward(x, w[12:], is_pre, activation)
    if len(final_norm) > 0:
        x = functional.layer_norm(x, [d_model], final_norm[0], final_norm[1])
    return x


def bias_of_entries(
    ancestors: Tensor | None, n_written: int, n_entries: int, n_heads: int, like: Tensor
) -> Tensor:
    """What is added to the scores of the cache: 0, or -inf where a beam may not look.

    (B, 1, N, M) of all that is written -> (B * H, N, M), longer where entries lie ahead.
    """
    ahead = n_entries - n_written
    if ancestors is None:
        bias = like.new_zeros(1, 1, n_entries)
        if ahead > 0:
            bias.narrow(2, n_written, ahead).fill_(-math.inf)
        return bias
    if ahead > 0:
        ancestors = functional.pad(ancestors, [0, ahead], value=-math.inf)
    b, _, n, m = ancestors.shape
    return ancestors.expand(b, n_heads, n, m).reshape(b * n_heads, n, m)
