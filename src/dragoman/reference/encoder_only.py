"""The encoder alone: vectors for tokens in context, for whole sentences, and a classifier.

Letters: B sentences, L length, D d_model, C classes.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from dragoman.config import ModelConfig
from dragoman.reference.embeddings import embed
from dragoman.reference.encoder import encoder
from dragoman.reference.masks import encoder_mask
from dragoman.reference.parameters import Array, Params, Record, linear, part

Pooling = Literal["first", "mean", "max"]


class EncoderOnly:
    """An encoder with its parameters; gives contextual vectors, sentence vectors and class logits.

    >>> from dragoman.reference.initialize import initialize
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model = EncoderOnly(config, initialize(config, seed=1), pooling="mean")
    >>> model.states(np.array([[4, 5, 0]])).shape, model.embed(np.array([[4, 5, 0]])).shape
    ((1, 3, 8), (1, 8))
    """

    def __init__(self, config: ModelConfig, params: Params, *, pooling: Pooling = "mean") -> None:
        self.config = config
        self.params = params
        self.pooling = pooling

    def states(self, ids: Array, *, record: Record | None = None) -> Array:
        """Each token's vector in its context: (B, L) -> (B, L, D)."""
        return encoder(
            part(self.params, "encoder"),
            embed(self.params, ids, config=self.config),
            mask=encoder_mask(ids, self.config.pad_id, self.config.window),
            config=self.config,
            record=record,
        )

    def embed(self, ids: Array) -> Array:
        """Each sentence's vector: (B, L) -> (B, D)."""
        return pool(self.states(ids), ids != self.config.pad_id, self.pooling)

    def __call__(self, ids: Array) -> Array:
        """Class logits, (B, L) -> (B, C); sentence vectors (B, D) without a classifier."""
        sentence = self.embed(ids)  # (B, D)
        if "classifier.weight" not in self.params:
            return sentence
        return linear(sentence, self.params["classifier.weight"], self.params["classifier.bias"])


def pool(states: Array, is_real: Array, pooling: Pooling) -> Array:
    """One vector of the real positions, their first, mean or max: (B, L, D), (B, L) -> (B, D).

    A sentence without a real token gives zeros.

    >>> states, is_real = np.array([[[1.0], [5.0], [99.0]]]), np.array([[True, True, False]])
    >>> [pool(states, is_real, how).item() for how in ("first", "mean", "max")]
    [1.0, 3.0, 5.0]
    """
    real = is_real[:, :, None]  # (B, L, 1)
    if pooling == "first":
        return states[:, 0] * real[:, 0]
    if pooling == "mean":
        n_real = np.maximum(real.sum(axis=1), 1).astype(states.dtype)  # (B, 1)
        return (states * real).sum(axis=1) / n_real
    lowest = np.finfo(states.dtype).min
    return np.where(real, states, lowest).max(axis=1) * real.any(axis=1)
