"""The position-wise feed-forward network (3.3): the same small network at every position.

Letters: B sentences, L length, D d_model, F d_ff.
"""

from __future__ import annotations

import math

import numpy as np

from dragoman.config import Activation
from dragoman.reference.parameters import Array, Params, linear


def feed_forward(params: Params, x: Array, *, activation: Activation = "relu") -> Array:
    """FFN(x) = act(xW₁ + b₁) W₂ + b₂: (B, L, D) -> (B, L, F) -> (B, L, D).

    ``relu`` is the paper's. For ``swiglu`` W₁ is twice as tall: its first half opens and closes
    gates for the second, silu(gate) · up.

    >>> params = {"w1.weight": np.array([[1.0], [-1.0]]), "w1.bias": np.zeros(2)}
    >>> params |= {"w2.weight": np.ones((1, 2)), "w2.bias": np.zeros(1)}
    >>> feed_forward(params, np.array([[[3.0], [-4.0]]])).ravel()  # |x|, from two relus
    array([3., 4.])
    """
    hidden = linear(x, params["w1.weight"], params["w1.bias"])  # (B, L, F), swiglu (B, L, 2F)
    return linear(activate(hidden, activation), params["w2.weight"], params["w2.bias"])


def activate(hidden: Array, activation: Activation) -> Array:
    """The non-linearity: (…, F) -> (…, F), for swiglu (…, 2F) -> (…, F).

    >>> activate(np.array([-1.0, 2.0]), "relu").tolist()
    [0.0, 2.0]
    """
    if activation == "relu":
        return np.maximum(hidden, 0)
    if activation == "gelu":
        return hidden * normal_cdf(hidden)
    gate, up = np.split(hidden, 2, axis=-1)  # (…, F) each
    return gate * sigmoid(gate) * up


def sigmoid(x: Array) -> Array:
    """1 / (1 + e⁻ˣ), written so that no exp() can overflow.

    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.exp(-np.logaddexp(0, -x))


def normal_cdf(x: Array) -> Array:
    """Φ(x) = (1 + erf(x/√2)) / 2, the share of a bell curve that lies below x.

    >>> normal_cdf(np.array([0.0, 1.0])).round(4).tolist()
    [0.5, 0.8413]
    """
    erf = np.vectorize(math.erf, otypes=[x.dtype])  # NumPy has no erf of its own
    return (1 + erf(x / math.sqrt(2))) / 2
