"""Tokens to vectors (3.4): an embedding scaled by √d_model, with its position added.

Letters: B sentences, L length, D d_model, P packed tokens.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.config import ModelConfig
from dragoman.model.dropout import dropout
from dragoman.model.packing import Packing
from dragoman.model.positional_encoding import LearnedPositions, SinusoidalPositions


class Embedding(nn.Module):
    """The matrix of one vocabulary, (V, D); the same matrix can serve source, target and output."""

    def __init__(self, vocab_size: int, d_model: int, *, pad_id: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=d_model**-0.5))
        self.pad_id = pad_id

    def forward(self, ids: Tensor) -> Tensor:
        """(…) -> (…, D), scaled by √D."""
        vectors = functional.embedding(ids, self.weight, padding_idx=self.pad_id)
        return vectors * math.sqrt(self.weight.size(1))


def make_positions(config: ModelConfig) -> SinusoidalPositions | LearnedPositions | None:
    """What is added to the embeddings; None for rotary positions, which turn queries and keys."""
    if config.positions == "sinusoidal":
        return SinusoidalPositions(config.d_model)
    if config.positions == "learned":
        return LearnedPositions(config.max_positions, config.d_model)
    return None


def embed(
    ids: Tensor,
    embedding: Embedding,
    *,
    positions: nn.Module | None,
    packing: Packing | None = None,
    first: int = 0,
    dropout_p: float = 0.0,
) -> Tensor:
    """What enters the first layer: (B, L) -> (B, L, D), or (P, D) where packed.

    ``first`` is the position of the first column, for decoding step by step.
    """
    x = embedding(ids if packing is None else packing.pack(ids))
    if positions is not None:
        table = positions(first + ids.size(1), x)[first:]  # (L, D)
        x = x + (table if packing is None else table.index_select(0, packing.positions()))
    return dropout(x, dropout_p, training=dropout_p > 0)
