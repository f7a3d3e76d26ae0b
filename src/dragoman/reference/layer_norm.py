"""Layer norm: every vector is brought to mean 0 and variance 1, then scaled and shifted as learned.

Letters: D d_model.
"""

from __future__ import annotations

import numpy as np

from dragoman.reference.parameters import Array, Params

EPS = 1e-5


def layer_norm(params: Params, x: Array) -> Array:
    """g · (x − mean) / √(variance + ε) + b over the last axis: (…, D) -> (…, D).

    >>> params = {"weight": np.ones(2), "bias": np.array([0.0, 10.0])}
    >>> layer_norm(params, np.array([3.0, 5.0])).round(3).tolist()
    [-1.0, 11.0]
    """
    normal, _ = standardize(x)
    return params["weight"] * normal + params["bias"]


def standardize(x: Array) -> tuple[Array, Array]:
    """x with mean 0 and variance 1 on the last axis, and the deviation it was divided by.

    >>> normal, deviation = standardize(np.array([3.0, 5.0]))
    >>> normal.round(3).tolist(), deviation.round(3).tolist()
    ([-1.0, 1.0], [1.0])
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPS)  # (…, 1)
    return centred / deviation, deviation
