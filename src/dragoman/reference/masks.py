"""Who may look at whom (3.2.3): bool arrays, True = may attend, broadcast to (B, H, L, M).

Letters: B sentences, H heads, L query length, M key length. In self-attention L = M.
"""

from __future__ import annotations

import numpy as np

from dragoman.reference.parameters import Array


def padding_mask(ids: Array, pad_id: int) -> Array:
    """True where a key is a real token: (B, M) -> (B, 1, 1, M).

    >>> padding_mask(np.array([[7, 8, 0]]), pad_id=0)[0, 0, 0].tolist()
    [True, True, False]
    """
    return (ids != pad_id)[:, None, None, :]  # (B, 1, 1, M)


def causal_mask(length: int) -> Array:
    """True where the key is not in the query's future: (1, 1, L, L).

    >>> causal_mask(3)[0, 0].astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    return np.tri(length, dtype=bool)[None, None]  # (1, 1, L, L)


def window_mask(length: int, window: int) -> Array:
    """True where query and key are at most ``window`` positions apart: (1, 1, L, L).

    >>> window_mask(4, window=1)[0, 0].astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 1, 0],
           [0, 1, 1, 1],
           [0, 0, 1, 1]])
    """
    position = np.arange(length)
    distance = np.abs(position[:, None] - position[None, :])  # (L, L)
    return (distance <= window)[None, None]  # (1, 1, L, L)


def encoder_mask(ids: Array, pad_id: int, window: int | None = None) -> Array:
    """What the encoder's self-attention may see: every real token (inside the window).

    >>> encoder_mask(np.array([[7, 8, 0]]), pad_id=0).shape
    (1, 1, 1, 3)
    """
    mask = padding_mask(ids, pad_id)
    return mask if window is None else mask & window_mask(ids.shape[1], window)


def decoder_mask(ids: Array, pad_id: int, window: int | None = None) -> Array:
    """What the decoder's self-attention may see: real tokens, none of the future.

    >>> decoder_mask(np.array([[7, 8, 0]]), pad_id=0)[0, 0].astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 0]])
    """
    return encoder_mask(ids, pad_id, window) & causal_mask(ids.shape[1])
