"""The encoder of a decoding on a CPU in one call, up to the keys and values that decoding looks at.

It is ``Encoder.forward`` and the projections of the memory once more, in the part of Python that
TorchScript knows, for the reasons that ``whole_step.py`` gives; a test holds the two together.
Padding costs attention alone, as in training (``packing.py``).

Letters: B sentences, S source length, P real tokens, D d_model, H heads, K d_k (and d_v), M keys,
at least 16, E any width.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.model.attention import MultiHeadAttention
from dragoman.model.decoder import Decoder
from dragoman.model.embeddings import Embedding
from dragoman.model.encoder import Encoder, EncoderLayer
from dragoman.model.packing import PACK_FROM
from dragoman.model.scripted import compiled
from dragoman.model.scripted_layers import attend, embedded, feed_forward, rows_of, turn
from dragoman.model.short_attention import SHORT
from dragoman.model.whole_step import bias_of_mask, lengthened_mask, linear_of, norm_of

KeysAndValues = list[tuple[Tensor, Tensor]]


def read_in_one_call(
    src_ids: Tensor,
    mask: Tensor | None,
    *,
    embedding: Embedding,
    places: Tensor,
    encoder: Encoder,
    decoder: Decoder,
) -> KeysAndValues | None:
    """Keys and values of the memory for each decoder layer, (B, H, S, K); None where it cannot be.

    ``mask``, (B, 1, 1, S), is True where there is a token; None: everywhere. ``places``, (S, D) or
    (S, K / 2), is of ``places_of``.
    """
    read = compiled(read_through)
    if read is None or src_ids.size(1) > SHORT:  # longer ones are better left to the fused kernel
        return None
    layers = cast("list[EncoderLayer]", list(encoder.layers))
    first = layers[0]
    n_heads = first.self_attention.n_heads
    index = _real_tokens(mask, src_ids)
    mask = lengthened_mask(mask, *src_ids.shape)
    made: KeysAndValues = read(
        src_ids,
        index,
        embedding.weight,
        places,
        [_weights_of(layer) for layer in layers],
        [] if encoder.final_norm is None else norm_of(encoder.final_norm),
        [_memory_weights_of(layer.cross_attention) for layer in decoder.stack()],
        bias_of_mask(mask, n_heads, like=embedding.weight),
        n_heads,
        first.order == "pre",
        first.feed_forward.activation,
    )
    return made


def _real_tokens(mask: Tensor | None, src_ids: Tensor) -> Tensor:
    """Where real tokens stand in the batch, row after row; all places where few are padding."""
    n_places = src_ids.numel()
    if mask is not None:
        index = mask.flatten().nonzero().squeeze(1)
        if 1 - index.numel() / n_places >= PACK_FROM:
            return index
    return torch.arange(n_places)


def _weights_of(layer: EncoderLayer) -> list[Tensor]:
    """The weights of a layer, in the order in which ``read_through`` meets them."""
    return [
        *norm_of(layer.self_attention_norm),
        *linear_of(layer.self_attention.qkv),
        *linear_of(layer.self_attention.out),
        *norm_of(layer.feed_forward_norm),
        *linear_of(layer.feed_forward.w1),
        *linear_of(layer.feed_forward.w2),
    ]


def _memory_weights_of(attention: nn.Module | None) -> list[Tensor]:
    """What makes keys and values of the memory in a decoder layer."""
    if not isinstance(attention, MultiHeadAttention):
        raise ValueError("a decoder-only layer has no cross-attention")
    n = attention.widths[0]
    return [attention.qkv.weight[n:].t(), attention.qkv.bias[n:]]


# --- what TorchScript goes through ---------------------------------------------------------------


def read_through(
    src_ids: Tensor,
    index: Tensor,
    embedding: Tensor,
    places: Tensor,
    weights: list[list[Tensor]],
    final_norm: list[Tensor],
    memory_weights: list[list[Tensor]],
    bias: Tensor,
    n_heads: int,
    is_pre: bool,
    activation: str,
) -> list[tuple[Tensor, Tensor]]:
    """Embedding, all layers, and keys and values for the decoder: (B, S) -> (B, H, S, K) each.

    ``index``, (P,), tells which places of the batch, B * S in a row, have real tokens.
    """
    d_model, (n_sentences, length) = embedding.size(1), src_ids.shape
    n_places, lacking = n_sentences * length, 16 - length  # LEAST_KEYS
    x = functional.embedding(src_ids.flatten().index_select(0, index), embedding)
    x = embedded(x, places.index_select(0, index.remainder(length)))  # (P, D)
    by_place = places.view(length, 1, 1, -1)  # the same for q, k, v and all heads
    for w in weights:
        # self-attention
        y = functional.layer_norm(x, [d_model], w[0], w[1]) if is_pre else x
        y = padded(torch.addmm(w[3], y, w[2]), index, n_places)
        y = y.view(n_sentences, length, 3, n_heads, -1)
        turn(y, by_place)
        width = y.size(4)
        y = y.permute(2, 0, 3, 1, 4).reshape(3, n_sentences * n_heads, length, width)
        q, k, v = y[0], y[1], y[2]
        if lacking > 0:
            k, v = functional.pad(y[1:], [0, 0, 0, lacking]).unbind(0)
        y = packed(rows_of(attend(q, k, v, bias), n_heads), index)
        x = x.addmm_(y, w[4]).add_(w[5])
        x = x if is_pre else functional.layer_norm(x, [d_model], w[0], w[1])
        x = feed_forward(x, w[6:], is_pre, activation)
    if len(final_norm) > 0:
        x = functional.layer_norm(x, [d_model], final_norm[0], final_norm[1])
    made: list[tuple[Tensor, Tensor]] = []
    for w in memory_weights:
        y = padded(torch.addmm(w[1], x, w[0]), index, n_places)
        y = y.view(n_sentences, length, 2, n_heads, -1)
        y = y.permute(2, 0, 3, 1, 4).contiguous()  # (2, B, H, S, K)
        made.append((y[0], y[1]))
    return made


def padded(x: Tensor, index: Tensor, n_places: int) -> Tensor:
    """Each token at its place, zeros between them: (P, E) -> (B * S, E)."""
    if index.size(0) == n_places:
        return x
    return x.new_zeros([n_places, x.size(1)]).index_copy_(0, index, x)


def packed(x: Tensor, index: Tensor) -> Tensor:
    """The real tokens alone: (B * S, E) -> (P, E)."""
    return x if index.size(0) == x.size(0) else x.index_select(0, index)
