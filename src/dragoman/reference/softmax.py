"""Scores into shares of one, without overflow."""

from __future__ import annotations

import numpy as np

from dragoman.reference.parameters import Array


def softmax(scores: Array, mask: Array | None = None) -> Array:
    """softmax(s)ᵢ = exp(sᵢ) / Σⱼ exp(sⱼ) over the last axis, taken over what the mask allows.

    Subtracting the largest score changes nothing in the quotient and keeps exp() in range.
    A row with nothing allowed gives zeros: no share, rather than 0 / 0.

    >>> softmax(np.log([1.0, 2.0, 1.0])).round(3).tolist()
    [0.25, 0.5, 0.25]
    >>> softmax(np.array([1000.0, 0.0]), np.array([False, False])).tolist()
    [0.0, 0.0]
    """
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    lowest = np.finfo(scores.dtype).min
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=lowest))
    total = shares.sum(axis=-1, keepdims=True)
    return shares / np.where(total > 0, total, 1)


def log_softmax(scores: Array) -> Array:
    """log softmax(s)ᵢ = sᵢ − log Σⱼ exp(sⱼ), never log(0) by way of a tiny softmax.

    >>> log_softmax(np.array([0.0, -2000.0])).tolist()
    [0.0, -2000.0]
    """
    scores = scores - scores.max(axis=-1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
