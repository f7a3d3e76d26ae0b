"""Attention (3.2): each position asks a question, and takes the mean of the answers that fit it.

Letters: B sentences, L query length, M key length, D d_model, H heads, K d_k, Kv d_v.
"""

from __future__ import annotations

import math

import numpy as np

from dragoman.config import ModelConfig
from dragoman.reference.parameters import Array, Params, Record, linear
from dragoman.reference.rotary import rotate
from dragoman.reference.softmax import softmax


def scaled_dot_product_attention(
    q: Array, k: Array, v: Array, mask: Array | None = None
) -> tuple[Array, Array]:
    """Attention(Q, K, V) = softmax(QKᵀ/√d_k) V, and the weights of that mean.

    Query and key are compared by their dot product. Its size grows like √d_k, hence the division:
    large scores would push the softmax to where it has no slope left. The weights of one query
    sum to 1, or are all 0 where its mask allows nothing.

    >>> q = np.ones((1, 1, 1, 4))
    >>> k = np.stack([np.full(4, math.log(3) / 2), np.zeros(4)])[None, None]
    >>> out, weights = scaled_dot_product_attention(q, k, np.array([[[[8.0], [0.0]]]]))
    >>> weights.round(6).tolist(), out.round(6).tolist()  # 3 : 1, so 3/4 of 8
    ([[[[0.75, 0.25]]]], [[[[6.0]]]])
    """
    d_k = q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(d_k)  # (B, H, L, M)
    weights = softmax(scores, mask)  # (B, H, L, M)
    return weights @ v, weights  # (B, H, L, Kv)


def multi_head_attention(
    params: Params,
    x: Array,
    memory: Array,
    *,
    mask: Array | None,
    n_heads: int,
    rotary: bool = False,
    record: Record | None = None,
    name: str = "",
) -> Array:
    """Concat(head₁, …, head_H) W^O with headᵢ = Attention(x Wᵢ^Q, memory Wᵢ^K, memory Wᵢ^V).

    Each head looks for something else, with queries, keys and values of its own; the last
    projection mixes what they found: (B, L, D), (B, M, D) -> (B, L, D).

    >>> eye = np.eye(2)
    >>> params = {"qkv.weight": np.vstack([eye, eye, eye]), "qkv.bias": np.zeros(6)}
    >>> params |= {"out.weight": eye, "out.bias": np.zeros(2)}
    >>> x = np.array([[[5.0, 7.0]]])
    >>> multi_head_attention(params, x, x, mask=None, n_heads=2)  # alone: it attends to itself
    array([[[5., 7.]]])
    """
    q, k, v = queries_keys_values(params, x, memory, n_heads=n_heads, rotary=rotary)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)  # (B, H, L, Kv), (B, H, L, M)
    if record is not None:
        record[name] = weights
    return linear(merge_heads(heads), params["out.weight"], params["out.bias"])  # (B, L, D)


def self_attention(
    params: Params,
    x: Array,
    *,
    mask: Array | None,
    config: ModelConfig,
    record: Record | None = None,
    name: str = "self",
) -> Array:
    """A sequence that looks at itself: queries, keys and values all come from x.

    >>> zero = {"qkv.weight": np.zeros((6, 2)), "qkv.bias": np.zeros(6)}
    >>> zero |= {"out.weight": np.zeros((2, 2)), "out.bias": np.ones(2)}
    >>> config = ModelConfig(d_model=2, n_heads=1)
    >>> self_attention(zero, np.zeros((1, 1, 2)), mask=None, config=config)
    array([[[1., 1.]]])
    """
    rotary = config.positions == "rotary"
    return multi_head_attention(
        params, x, x, mask=mask, n_heads=config.n_heads, rotary=rotary, record=record, name=name
    )


def cross_attention(
    params: Params,
    x: Array,
    *,
    memory: Array,
    mask: Array | None,
    config: ModelConfig,
    record: Record | None = None,
    name: str = "cross",
) -> Array:
    """A target that looks at its source: queries from x, keys and values from the memory.

    >>> keep = {"qkv.weight": np.vstack([np.zeros((4, 2)), np.eye(2)]), "qkv.bias": np.zeros(6)}
    >>> keep |= {"out.weight": np.eye(2), "out.bias": np.zeros(2)}
    >>> memory = np.array([[[1.0, 2.0], [3.0, 4.0]]])  # no preference: the mean of both
    >>> config = ModelConfig(d_model=2, n_heads=1)
    >>> cross_attention(keep, np.zeros((1, 1, 2)), memory=memory, mask=None, config=config)
    array([[[2., 3.]]])
    """
    return multi_head_attention(
        params, x, memory, mask=mask, n_heads=config.n_heads, record=record, name=name
    )


def queries_keys_values(
    params: Params, x: Array, memory: Array, *, n_heads: int, rotary: bool = False
) -> tuple[Array, Array, Array]:
    """Queries of x, keys and values of memory, by head: (B, H, L, K), (B, H, M, K), (B, H, M, Kv).

    >>> params = {"qkv.weight": np.ones((6, 2)), "qkv.bias": np.zeros(6)}
    >>> params |= {"out.weight": np.ones((2, 2))}
    >>> x, memory = np.ones((1, 3, 2)), np.ones((1, 5, 2))
    >>> [a.shape for a in queries_keys_values(params, x, memory, n_heads=2)]
    [(1, 2, 3, 1), (1, 2, 5, 1), (1, 2, 5, 1)]
    """
    w_q, w_k, w_v = split_rows(params, "qkv.weight")
    b_q, b_k, b_v = split_rows(params, "qkv.bias")
    q = split_heads(linear(x, w_q, b_q), n_heads)  # (B, H, L, K)
    k = split_heads(linear(memory, w_k, b_k), n_heads)  # (B, H, M, K)
    v = split_heads(linear(memory, w_v, b_v), n_heads)  # (B, H, M, Kv)
    if rotary:
        q, k = rotate(q, np.arange(q.shape[-2])), rotate(k, np.arange(k.shape[-2]))
    return q, k, v


def split_rows(params: Params, name: str) -> list[Array]:
    """The rows for queries, keys and values, which one matrix holds in this order.

    >>> params = {"qkv.bias": np.arange(7), "out.weight": np.zeros((4, 3))}  # H·K = 2, H·Kv = 3
    >>> [rows.tolist() for rows in split_rows(params, "qkv.bias")]
    [[0, 1], [2, 3], [4, 5, 6]]
    """
    n_value_rows = params["out.weight"].shape[1]  # H·Kv
    n_query_rows = (params[name].shape[0] - n_value_rows) // 2  # H·K
    return np.split(params[name], [n_query_rows, 2 * n_query_rows])


def split_heads(x: Array, n_heads: int) -> Array:
    """Each head's own slice of the last axis: (B, L, H·K) -> (B, H, L, K).

    >>> split_heads(np.arange(4).reshape(1, 1, 4), n_heads=2).tolist()
    [[[[0, 1]], [[2, 3]]]]
    """
    b, length, width = x.shape
    x = x.reshape(b, length, n_heads, width // n_heads)  # (B, L, H, K)
    return x.swapaxes(1, 2)  # (B, H, L, K)


def merge_heads(x: Array) -> Array:
    """The heads side by side again: (B, H, L, K) -> (B, L, H·K).

    >>> merge_heads(split_heads(np.arange(6).reshape(1, 1, 6), n_heads=3)).tolist()
    [[[0, 1, 2, 3, 4, 5]]]
    """
    b, n_heads, length, width = x.shape
    return x.swapaxes(1, 2).reshape(b, length, n_heads * width)  # (B, L, H·K)
