"""The encoder alone: a vector for every token, for the whole sentence, and a classifier on it.

Letters: B sentences, L length, D d_model, C classes.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.attention import Probe, View
from dragoman.model.embeddings import Embedding, embed, make_positions
from dragoman.model.encoder import Encoder
from dragoman.model.initialize import initialize
from dragoman.model.masks import encoder_mask
from dragoman.model.transformer import rotated

Pooling = Literal["first", "mean", "max"]


def pool(states: Tensor, is_real: Tensor, pooling: Pooling) -> Tensor:
    """One vector a sentence from its real tokens: (B, L, D), (B, L) -> (B, D).

    A sentence without any token gives zeros.

    >>> states = torch.tensor([[[1.0], [3.0], [9.0]]])
    >>> pool(states, torch.tensor([[True, True, False]]), "mean").tolist()
    [[2.0]]
    """
    real = is_real[:, :, None]
    if pooling == "first":
        return states[:, 0] * real[:, 0]
    if pooling == "mean":
        return (states * real).sum(1) / real.sum(1).clamp(min=1)
    if pooling == "max":
        lowest = torch.finfo(states.dtype).min
        return states.masked_fill(~real, lowest).amax(1) * real.any(1)
    raise ValueError(f"pooling {pooling!r}: must be 'first', 'mean' or 'max'")


class EncoderOnly(nn.Module):
    """Contextual and sentence embeddings, and class logits where ``n_classes`` is given.

    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model = EncoderOnly(config, n_classes=3)
    >>> ids = torch.tensor([[4, 5, 0]])
    >>> model.states(ids).shape, model.embed(ids).shape, model(ids).shape
    (torch.Size([1, 3, 8]), torch.Size([1, 8]), torch.Size([1, 3]))
    """

    def __init__(
        self, config: ModelConfig, *, n_classes: int | None = None, pooling: Pooling = "mean"
    ) -> None:
        super().__init__()
        self.config = config
        self.pooling: Pooling = pooling
        self.embedding = Embedding(config.source_vocab, config.d_model, pad_id=config.pad_id)
        self.positions = make_positions(config)
        self.encoder = Encoder(config, config.encoder_layers)
        self.classifier = None if n_classes is None else nn.Linear(config.d_model, n_classes)
        initialize(self)

    def forward(self, ids: Tensor) -> Tensor:
        """Class logits, (B, L) -> (B, C); sentence embeddings (B, D) without a classifier."""
        sentence = self.embed(ids)
        return sentence if self.classifier is None else self.classifier(sentence)

    def states(self, ids: Tensor, *, probe: Probe | None = None) -> Tensor:
        """A vector for every token in its context: (B, L) -> (B, L, D)."""
        p = self.config.dropout if self.training else 0.0
        x = embed(ids, self.embedding, positions=self.positions, dropout_p=p)
        mask = encoder_mask(ids, self.config.pad_id, self.config.window)
        view = rotated(View(mask=mask, probe=probe), self.config, ids.size(1), like=x)
        return self.encoder(x, view)

    def embed(self, ids: Tensor) -> Tensor:
        """One vector a sentence: (B, L) -> (B, D)."""
        return pool(self.states(ids), ids != self.config.pad_id, self.pooling)
