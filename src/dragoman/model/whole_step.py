"""All layers of a decoding step on a CPU in one call, which Python begins and does not return to.

A step of a small model is two hundred operations that take less time than Python needs to begin
them, and two batches on two cores wait for each other at each, as Python runs one thread at a time.
TorchScript goes through all of them alone. What is written here is ``Decoder.step`` once more, in
the part of Python that TorchScript knows; a test holds the two together. Where a PyTorch has no
TorchScript, or a model has more than it knows, ``Decoder.step`` it is.

Letters: B sentences, N beams, R = B * N rows, D d_model, H heads, K d_k (or d_v), S source length,
T longest target, M entries of a cache, t positions so far.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import lru_cache
from threading import Lock

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.config import ModelConfig
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.cache import DecoderCache
from dragoman.model.decoder import Decoder, DecoderLayer, split_rows
from dragoman.model.embeddings import Embedding


def knows(config: ModelConfig, weight: Tensor, cache: DecoderCache) -> bool:
    """Whether a step of this model with this cache can be done in one call."""
    is_added = config.positions == "sinusoidal" or (
        config.positions == "learned" and cache.capacity <= config.max_positions
    )
    mask = cache.memory_view.mask
    return (
        is_added
        and config.window is None
        and weight.device.type == "cpu"
        and torch.is_inference_mode_enabled()
        and (mask is None or bool(mask.any(-1).all()))  # there is something to attend to
        and _scripted() is not None
    )


class WholeStep:
    """The decoder of a model, ready to go through its layers in one call."""

    def __init__(
        self, decoder: Decoder, embedding: Embedding, positions: nn.Module, cache: DecoderCache
    ) -> None:
        first = decoder.stack()[0]
        self._weights = [_weights_of(layer) for layer in decoder.stack()]
        self._final_norm = _norm_of(decoder.final_norm) if decoder.final_norm is not None else []
        self._embedding = embedding.weight
        self._positions = positions(cache.capacity, embedding.weight)  # (T, D)
        self._widths, self._n_heads = first.self_attention.widths, first.self_attention.n_heads
        self._is_pre, self._activation = first.order == "pre", first.feed_forward.activation
        self._steps = _scripted()

    def __call__(self, ids: Tensor, cache: DecoderCache) -> Tensor:
        """The decoder's states after one more token of each hypothesis: (R,) -> (R, D)."""
        if cache.length >= cache.capacity:
            raise IndexError(f"the cache is full: it has room for {cache.length} positions")
        if self._steps is None:
            raise RuntimeError("this PyTorch has no TorchScript")
        cache.open_position()
        kept = [
            (layer.keys, layer.values, layer.memory_keys, layer.memory_values)
            for layer in cache.layers
        ]
        x = self._steps(
            ids,
            self._embedding,
            self._positions[cache.length],
            self._weights,
            self._final_norm,
            kept,
            cache.ancestors,
            cache.memory_view.mask,
            cache.length,
            self._n_heads,
            self._widths,
            self._is_pre,
            self._activation,
        )
        cache.length += 1
        return x


_COMPILING = Lock()


def _scripted() -> Callable[..., Tensor] | None:
    """The function below, compiled; None where that cannot be."""
    with _COMPILING:  # filters of warnings are one for all threads
        return _script()


@lru_cache(maxsize=1)
def _script() -> Callable[..., Tensor] | None:
    try:
        with warnings.catch_warnings():
            # It is to leave PyTorch one day; until then nothing else does this without a compiler.
            warnings.simplefilter("ignore")
            return torch.jit.script(step_through)
    except (AttributeError, NotImplementedError, RuntimeError):
        return None


def _norm_of(norm: nn.LayerNorm) -> list[Tensor]:
    return [norm.weight.detach(), norm.bias.detach()]


def _linear_of(linear: nn.Linear, n_out: int | None = None) -> list[Tensor]:
    return [linear.weight.detach()[:n_out], linear.bias.detach()[:n_out]]


def _weights_of(layer: DecoderLayer) -> list[Tensor]:
    """The weights of a layer, in the order in which ``step_through`` meets them."""
    own, cross, norm = layer.self_attention, layer.cross_attention, layer.cross_attention_norm
    if not isinstance(cross, MultiHeadAttention) or norm is None:
        raise ValueError("a decoder-only layer has no cross-attention")
    return [
        *_norm_of(layer.self_attention_norm),
        *_linear_of(own.qkv),
        *_linear_of(own.out),
        *_norm_of(norm),
        *_linear_of(cross.qkv, cross.widths[0]),
        *_linear_of(cross.out),
        *_norm_of(layer.feed_forward_norm),
        *_linear_of(layer.feed_forward.w1),
        *_linear_of(layer.feed_forward.w2),
    ]


# --- what TorchScript goes through ---------------------------------------------------------------


def step_through(
    ids: Tensor,
    embedding: Tensor,
    position: Tensor,
    weights: list[list[Tensor]],
    final_norm: list[Tensor],
    kept: list[tuple[Tensor, Tensor, Tensor, Tensor]],
    ancestors: Tensor | None,
    memory_mask: Tensor | None,
    length: int,
    n_heads: int,
    widths: list[int],
    is_pre: bool,
    activation: str,
) -> Tensor:
    """Embedding and all layers: (R,) -> (R, D)."""
    d_model = embedding.size(1)
    x = functional.embedding(ids, embedding) * math.sqrt(d_model) + position
    for w, (keys, values, memory_keys, memory_values) in zip(weights, kept):  # noqa: B905
        # masked self-attention
        y = functional.layer_norm(x, [d_model], w[0], w[1]) if is_pre else x
        q, k, v = torch.split(functional.linear(y, w[2], w[3]), widths, dim=-1)
        n = x.size(0) // keys.size(0)
        keys.narrow(2, length * n, n).copy_(split_rows(k, keys.size(0), n_heads))
        values.narrow(2, length * n, n).copy_(split_rows(v, keys.size(0), n_heads))
        q = split_rows(q, keys.size(0), n_heads)
        end = (length + 1) * n
        y = attend(q, keys.narrow(2, 0, end), values.narrow(2, 0, end), ancestors)
        x = x + functional.linear(y, w[4], w[5])
        x = x if is_pre else functional.layer_norm(x, [d_model], w[0], w[1])
        # attention to the memory
        y = functional.layer_norm(x, [d_model], w[6], w[7]) if is_pre else x
        q = split_rows(functional.linear(y, w[8], w[9]), keys.size(0), n_heads)
        y = attend(q, memory_keys, memory_values, memory_mask)
        x = x + functional.linear(y, w[10], w[11])
        x = x if is_pre else functional.layer_norm(x, [d_model], w[6], w[7])
        # feed-forward
        y = functional.layer_norm(x, [d_model], w[12], w[13]) if is_pre else x
        y = activate(functional.linear(y, w[14], w[15]), activation)
        x = x + functional.linear(y, w[16], w[17])
        x = x if is_pre else functional.layer_norm(x, [d_model], w[12], w[13])
    if len(final_norm) > 0:
        x = functional.layer_norm(x, [d_model], final_norm[0], final_norm[1])
    return x


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """The values attended to, heads side by side: (B, H, N, K), twice (B, H, M, K) -> (R, H * K).

    One query a sentence is faster by batched products than by the fused kernel.
    """
    b, h, n, width = q.shape
    if n > 1:
        out = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    else:
        q, k = q.reshape(b * h, 1, width), k.reshape(b * h, -1, width)
        scores = torch.bmm(q, k.transpose(1, 2)).mul_(1 / math.sqrt(width))  # (B * H, 1, M)
        if mask is not None:  # (B, 1, 1, S), True where there is a token
            scores.view(b, h, 1, -1).masked_fill_(~mask, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        out = torch.bmm(weights, v.reshape(b * h, -1, v.size(3))).view(b, h, 1, -1)
    return out.transpose(1, 2).reshape(b * n, -1)


def activate(inner: Tensor, activation: str) -> Tensor:
    """What stands between the two maps of the feed-forward network: (R, F or 2 F) -> (R, F)."""
    if activation == "relu":
        return functional.relu(inner)
    if activation == "gelu":
        return functional.gelu(inner)
    gate, up = inner.chunk(2, dim=-1)
    return functional.silu(gate) * up
