"""Several models that share one tokenizer and vote on every token: the mean of their probabilities.

Letters: B sentences, S source length, R rows, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dragoman.decoding.scorer import Cache, Scorer


@dataclass(frozen=True)
class EnsembleCache:
    """What each of the models remembers."""

    caches: list[Cache]

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on from what was row ``rows[i]``."""
        for cache in self.caches:
            cache.reorder(rows)

    def keep(self, sentences: Tensor) -> None:
        """Leave only these sentences, in this order."""
        for cache in self.caches:
            cache.keep(sentences)


@dataclass(frozen=True)
class Ensemble:
    """A scorer whose probability of a token is the mean of its models' probabilities.

    >>> from dragoman.config import ModelConfig
    >>> from dragoman.decoding.greedy import greedy
    >>> from dragoman.model.transformer import Transformer
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model, src_ids = Transformer(config).eval(), torch.tensor([[5, 6, 2]])
    >>> greedy(Ensemble((model, model)), src_ids) == greedy(model, src_ids)
    True
    """

    models: Sequence[Scorer[Any]]

    def start(self, src_ids: Tensor, *, n_beams: int, capacity: int) -> EnsembleCache:
        """Read the sources (B, S) with every model."""
        return EnsembleCache(
            [model.start(src_ids, n_beams=n_beams, capacity=capacity) for model in self.models]
        )

    def step(self, ids: Tensor, cache: EnsembleCache) -> Tensor:
        """The logarithm of the mean probability of each next token: (R,) -> (R, V)."""
        pairs = zip(self.models, cache.caches, strict=True)
        return log_mean([model.step(ids, own) for model, own in pairs])


def log_mean(logits: Sequence[Tensor]) -> Tensor:
    """The logarithm of the mean of the probabilities that several logits stand for: (…, V)."""
    if len(logits) == 1:
        return torch.log_softmax(logits[0], dim=-1)
    log_probs = torch.stack([torch.log_softmax(each, dim=-1) for each in logits])
    return torch.logsumexp(log_probs, dim=0) - math.log(len(logits))
