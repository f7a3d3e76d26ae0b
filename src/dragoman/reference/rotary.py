"""Rotary positions, an option beyond the paper: queries and keys are turned by where they stand.

After the turn the dot product of a query and a key depends on their distance alone, because
turning one by a and the other by b leaves an angle of a − b between them.

Letters: L length, K d_k (even).
"""

from __future__ import annotations

import numpy as np

from dragoman.reference.parameters import Array


def rotate(x: Array, positions: Array) -> Array:
    """Each pair (x₂ᵢ, x₂ᵢ₊₁) turned by the angle pos / 10000^(2i/d_k): (…, L, K) -> (…, L, K).

    >>> rotate(np.array([[1.0, 0.0], [1.0, 0.0]]), np.arange(2)).round(4).tolist()
    [[1.0, 0.0], [0.5403, 0.8415]]
    """
    d_k = x.shape[-1]
    angle = positions[:, None] / 10000 ** (np.arange(0, d_k, 2) / d_k)  # (L, K/2)
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # (…, L, K/2)
    out = np.empty_like(x)
    out[..., 0::2] = even * cos - odd * sin
    out[..., 1::2] = even * sin + odd * cos
    return out
