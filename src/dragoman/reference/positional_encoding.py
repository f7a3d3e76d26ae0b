"""Where a token stands (3.5): without it, attention would see a bag of words.

Letters: B sentences, L length, D d_model.
"""

from __future__ import annotations

import numpy as np

from dragoman.errors import InputTooLongError
from dragoman.reference.parameters import Array


def sinusoidal_encoding(length: int, d_model: int) -> Array:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(the same): (L, D).

    A row is a clock with d/2 hands, from one turn in 6.28 positions to one in 62,832. Moving by k
    positions turns every hand by a fixed angle, so "k to the left" is one linear map everywhere;
    and there is a row for any length, seen in training or not.

    >>> sinusoidal_encoding(2, 4).round(4).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.01, 1.0]]
    """
    position = np.arange(length)[:, None]  # (L, 1)
    angle = position / 10000 ** (np.arange(0, d_model, 2) / d_model)  # (L, D/2)
    encoding = np.empty((length, d_model))  # (L, D)
    encoding[:, 0::2] = np.sin(angle)
    encoding[:, 1::2] = np.cos(angle)
    return encoding


def learned_encoding(table: Array, length: int) -> Array:
    """The first rows of a learned table: (max_positions, D) -> (L, D).

    >>> learned_encoding(np.array([[1.0], [2.0], [3.0]]), 2).tolist()
    [[1.0], [2.0]]
    >>> learned_encoding(np.array([[1.0]]), 2)
    Traceback (most recent call last):
    dragoman.errors.InputTooLongError: 2 tokens, but the model has learned only 1 positions.
      Shorten the input, or train with a larger model.max_positions or other model.positions.
    """
    if length > len(table):
        raise InputTooLongError(
            f"{length} tokens, but the model has learned only {len(table)} positions.\n"
            "  Shorten the input, or train with a larger model.max_positions or other"
            " model.positions."
        )
    return table[:length]
