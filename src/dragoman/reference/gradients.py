"""The backward pass of each block, by hand.

A block computes y = f(x, w). Training needs the way back: given how the loss changes with y, how
does it change with x and with w? That is all a ``…_backward`` function answers. Each takes the
gradient of the loss with respect to the block's output, then the very inputs of the block, and
gives back the gradients of those inputs, in their shapes. What it needs of the forward pass it
computes again: a little slower than keeping it, and nothing can go stale.

Two rules do most of the work: where a value is used twice, its gradients add up; and what was
broadcast forward is summed backward.

``d_x`` is the gradient of the loss with respect to x.
Letters: B sentences, L query length, M key length, D d_model, H heads, K d_k, Kv d_v, F d_ff,
V vocabulary.
"""

from __future__ import annotations

import math

import numpy as np

from dragoman.config import Activation, ModelConfig, SmoothingForm
from dragoman.reference.attention import (
    merge_heads,
    queries_keys_values,
    scaled_dot_product_attention,
    split_heads,
    split_rows,
)
from dragoman.reference.feed_forward import activate, normal_cdf, sigmoid
from dragoman.reference.label_smoothing import smoothed_targets
from dragoman.reference.layer_norm import standardize
from dragoman.reference.parameters import Array, Params, linear
from dragoman.reference.rotary import rotate
from dragoman.reference.softmax import softmax


def linear_backward(d_out: Array, x: Array, weight: Array) -> tuple[Array, Array, Array]:
    """(d_x, d_weight, d_bias) of y = x Wᵀ + b, summed over all positions for weight and bias.

    >>> d_x, d_w, d_b = linear_backward(np.ones((5, 1)), np.ones((5, 2)), np.array([[3.0, 4.0]]))
    >>> d_x[0].tolist(), d_w.tolist(), d_b.tolist()
    ([3.0, 4.0], [[5.0, 5.0]], [5.0])
    """
    d_rows, rows = d_out.reshape(-1, d_out.shape[-1]), x.reshape(-1, x.shape[-1])
    return d_out @ weight, d_rows.T @ rows, d_rows.sum(axis=0)


def softmax_backward(d_out: Array, weights: Array) -> Array:
    """d_scores of w = softmax(s): w · (d_w − Σ w d_w), for a share grows at the others' cost.

    >>> softmax_backward(np.array([1.0, 0.0]), np.array([0.5, 0.5])).tolist()
    [0.25, -0.25]
    """
    mean = (weights * d_out).sum(axis=-1, keepdims=True)
    return weights * (d_out - mean)


def scaled_dot_product_attention_backward(
    d_out: Array, q: Array, k: Array, v: Array, mask: Array | None = None
) -> tuple[Array, Array, Array]:
    """(d_q, d_k, d_v) of attention. A masked key has weight 0, hence no gradient, by itself.

    >>> one = np.ones((1, 1, 1, 1))  # a single key has all the weight, whatever the query says
    >>> [d.item() for d in scaled_dot_product_attention_backward(one, one, one, one)]
    [0.0, 0.0, 1.0]
    """
    _, weights = scaled_dot_product_attention(q, k, v, mask)  # (B, H, L, M)
    d_v = weights.swapaxes(-1, -2) @ d_out  # (B, H, M, Kv)
    d_weights = d_out @ v.swapaxes(-1, -2)  # (B, H, L, M)
    d_scores = softmax_backward(d_weights, weights) / math.sqrt(q.shape[-1])
    d_q = d_scores @ k  # (B, H, L, K)
    d_k = d_scores.swapaxes(-1, -2) @ q  # (B, H, M, K)
    return d_q, d_k, d_v


def multi_head_attention_backward(
    d_out: Array,
    params: Params,
    x: Array,
    memory: Array,
    *,
    mask: Array | None,
    n_heads: int,
    rotary: bool = False,
) -> tuple[Array, Array, Params]:
    """(d_x, d_memory, gradients) of multi-head attention, from its end to its beginning.

    >>> eye = np.eye(2)
    >>> params = {"qkv.weight": np.vstack([eye, eye, eye]), "qkv.bias": np.zeros(6)}
    >>> params |= {"out.weight": eye, "out.bias": np.zeros(2)}
    >>> x = np.array([[[5.0, 7.0]]])
    >>> d_x, d_memory, _ = multi_head_attention_backward(x, params, x, x, mask=None, n_heads=1)
    >>> d_x.tolist(), d_memory.tolist()
    ([[[0.0, 0.0]]], [[[5.0, 7.0]]])
    """
    q, k, v = queries_keys_values(params, x, memory, n_heads=n_heads, rotary=rotary)
    heads, _ = scaled_dot_product_attention(q, k, v, mask)
    d_merged, d_w_out, d_b_out = linear_backward(d_out, merge_heads(heads), params["out.weight"])
    d_heads = split_heads(d_merged, n_heads)  # (B, H, L, Kv)
    d_q, d_k, d_v = scaled_dot_product_attention_backward(d_heads, q, k, v, mask)
    if rotary:  # the gradient of a turn is the turn back
        d_q, d_k = rotate(d_q, -np.arange(q.shape[-2])), rotate(d_k, -np.arange(k.shape[-2]))
    w_q, w_k, w_v = split_rows(params, "qkv.weight")
    d_x, d_w_q, d_b_q = linear_backward(merge_heads(d_q), x, w_q)
    d_memory_k, d_w_k, d_b_k = linear_backward(merge_heads(d_k), memory, w_k)
    d_memory_v, d_w_v, d_b_v = linear_backward(merge_heads(d_v), memory, w_v)
    grads = {
        "qkv.weight": np.concatenate([d_w_q, d_w_k, d_w_v]),
        "qkv.bias": np.concatenate([d_b_q, d_b_k, d_b_v]),
        "out.weight": d_w_out,
        "out.bias": d_b_out,
    }
    return d_x, d_memory_k + d_memory_v, grads


def feed_forward_backward(
    d_out: Array, params: Params, x: Array, *, activation: Activation = "relu"
) -> tuple[Array, Params]:
    """(d_x, gradients) of the feed-forward network.

    >>> params = {"w1.weight": np.array([[1.0], [-1.0]]), "w1.bias": np.zeros(2)}
    >>> params |= {"w2.weight": np.ones((1, 2)), "w2.bias": np.zeros(1)}
    >>> x = np.array([[[3.0], [-4.0]]])
    >>> d_x, _ = feed_forward_backward(np.ones_like(x), params, x)  # the slope of |x|
    >>> d_x.ravel().tolist()
    [1.0, -1.0]
    """
    hidden = linear(x, params["w1.weight"], params["w1.bias"])  # (B, L, F)
    active = activate(hidden, activation)
    d_active, d_w2, d_b2 = linear_backward(d_out, active, params["w2.weight"])
    d_hidden = activate_backward(d_active, hidden, activation)
    d_x, d_w1, d_b1 = linear_backward(d_hidden, x, params["w1.weight"])
    return d_x, {"w1.weight": d_w1, "w1.bias": d_b1, "w2.weight": d_w2, "w2.bias": d_b2}


def activate_backward(d_out: Array, hidden: Array, activation: Activation) -> Array:
    """d_hidden of the non-linearity: its slope at each number, times the gradient.

    >>> activate_backward(np.array([5.0, 5.0]), np.array([-1.0, 2.0]), "relu").tolist()
    [0.0, 5.0]
    """
    if activation == "relu":
        return d_out * (hidden > 0)
    if activation == "gelu":  # x Φ(x), and the slope of Φ is the bell curve
        bell = np.exp(-(hidden**2) / 2) / math.sqrt(2 * math.pi)
        return d_out * (normal_cdf(hidden) + hidden * bell)
    gate, up = np.split(hidden, 2, axis=-1)
    s = sigmoid(gate)
    d_gate = d_out * up * s * (1 + gate * (1 - s))
    d_up = d_out * gate * s
    return np.concatenate([d_gate, d_up], axis=-1)


def layer_norm_backward(d_out: Array, params: Params, x: Array) -> tuple[Array, Params]:
    """(d_x, gradients) of layer norm.

    The norm takes the mean and the size of x away, so a gradient along either changes nothing:
    those two parts are taken out of it.

    >>> params = {"weight": np.ones(3), "bias": np.zeros(3)}
    >>> d_x, grads = layer_norm_backward(np.ones((1, 3)), params, np.array([[1.0, 2.0, 6.0]]))
    >>> bool(np.allclose(d_x, 0)), grads["bias"].tolist()
    (True, [1.0, 1.0, 1.0])
    """
    normal, deviation = standardize(x)
    d_normal = d_out * params["weight"]
    along_mean = d_normal.mean(axis=-1, keepdims=True)
    along_size = normal * (d_normal * normal).mean(axis=-1, keepdims=True)
    d_x = (d_normal - along_mean - along_size) / deviation
    every_position = tuple(range(x.ndim - 1))
    d_weight, d_bias = (d_out * normal).sum(axis=every_position), d_out.sum(axis=every_position)
    return d_x, {"weight": d_weight, "bias": d_bias}


def embed_backward(
    d_out: Array,
    params: Params,
    ids: Array,
    *,
    config: ModelConfig,
    table: str = "embedding.weight",
    positions: str = "positions.weight",
) -> Params:
    """The gradients of the tables: each row gets the sum over the places where its id stood.

    >>> config = ModelConfig(d_model=4, n_heads=1)
    >>> params = {"embedding.weight": np.zeros((3, 4))}
    >>> d_out = np.array([1.0, 10.0, 100.0]).reshape(1, 3, 1) * np.ones(4)
    >>> grads = embed_backward(d_out, params, np.array([[2, 1, 2]]), config=config)
    >>> grads["embedding.weight"][:, 0].tolist()  # √4 times 0, 10 and 1 + 100
    [0.0, 20.0, 202.0]
    """
    grads = {table: np.zeros_like(params[table])}
    np.add.at(grads[table], ids, d_out * math.sqrt(config.d_model))
    if config.positions == "learned":
        grads[positions] = np.zeros_like(params[positions])
        grads[positions][: ids.shape[1]] = d_out.sum(axis=0)
    return grads


def output_projection_backward(d_logits: Array, table: Array, x: Array) -> tuple[Array, Array]:
    """(d_x, d_table) of the output projection.

    >>> d_x, d_table = output_projection_backward(np.eye(2), np.eye(2), np.full((2, 2), 3.0))
    >>> d_table.tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    d_x, d_table, _ = linear_backward(d_logits, x, table)
    return d_x, d_table


def smoothed_loss_backward(
    logits: Array,
    tgt_out: Array,
    *,
    epsilon: float = 0.1,
    form: SmoothingForm = "uniform",
    pad_id: int = 0,
) -> Array:
    """d_logits of the summed loss, either form: what the model believes less what is true, p − q.

    >>> logits = np.log([[[0.5, 0.25, 0.25]]])
    >>> smoothed_loss_backward(logits, np.array([[1]]), epsilon=0.0).round(6).tolist()
    [[[0.5, -0.75, 0.25]]]
    """
    q = smoothed_targets(
        tgt_out, logits.shape[-1], epsilon=epsilon, form=form, pad_id=pad_id
    )  # (B, T, V)
    d_logits = softmax(logits) - q
    return np.where((tgt_out != pad_id)[..., None], d_logits, 0).astype(logits.dtype)
