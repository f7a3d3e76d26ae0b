"""Forced decoding: the log-probability that a model gives to translations it did not choose.

Letters: P real target tokens of a batch, EOS counted; D d_model, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dragoman.batches.batch import Batch, make_batch
from dragoman.batches.bucketing import plan_in_order
from dragoman.decoding.ensemble import log_mean
from dragoman.model.packing import Packing
from dragoman.model.transformer import Transformer
from dragoman.tokenize.vocabulary import PAD_ID

Ids = Sequence[int]
TOKENS_AT_ONCE = 1024  # rows of logits in memory, each of the size of the vocabulary


@dataclass(frozen=True)
class PairScore:
    """How likely a model finds a translation: log P(target | source), EOS counted.

    >>> score = PairScore((-1.0, -2.0, -3.0))
    >>> score.log_prob, score.n_tokens, round(score.perplexity, 3)
    (-6.0, 3, 7.389)
    """

    token_log_probs: tuple[float, ...]  # of each target piece and of EOS

    @property
    def log_prob(self) -> float:
        return math.fsum(self.token_log_probs)

    @property
    def n_tokens(self) -> int:
        return len(self.token_log_probs)

    @property
    def perplexity(self) -> float:
        """e to the mean negative log-probability of a token; infinite past all numbers."""
        mean = -self.log_prob / self.n_tokens
        return math.exp(mean) if mean < 700 else math.inf


@torch.inference_mode()
def score_ids(
    models: Sequence[Transformer], pairs: Sequence[tuple[Ids, Ids]], *, batch_tokens: int = 4096
) -> list[PairScore]:
    """The scores of pairs of ids (without BOS and EOS), in their order.

    Several models score as an ensemble.

    >>> from dragoman.config import ModelConfig
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> model = Transformer(config).eval()
    >>> [score.n_tokens for score in score_ids([model], [([5, 6], [7]), ([5], [])])]
    [2, 1]
    """
    src_lengths = np.array([len(src) for src, _ in pairs], dtype=np.int64)
    tgt_lengths = np.array([len(tgt) for _, tgt in pairs], dtype=np.int64)
    found: dict[int, PairScore] = {}
    for indices in plan_in_order(src_lengths, tgt_lengths, batch_tokens=batch_tokens):
        batch = make_batch((list(pairs[i][0]), list(pairs[i][1])) for i in indices)
        log_probs = _batch_log_probs(models, batch).tolist()
        start = 0
        for index in indices.tolist():
            end = start + int(tgt_lengths[index]) + 1
            found[index] = PairScore(tuple(log_probs[start:end]))
            start = end
    return [found[index] for index in range(len(pairs))]


def _batch_log_probs(models: Sequence[Transformer], batch: Batch) -> Tensor:
    """The log-probabilities of all real target tokens of a batch, in order: (P,)."""
    batch = batch.to(models[0].output_weight.device)
    src, tgt = Packing.of(batch.src_ids, PAD_ID), Packing.of(batch.tgt_in, PAD_ID)
    states = [model.hidden(batch.src_ids, batch.tgt_in, src, tgt) for model in models]  # (P, D)
    gold = batch.tgt_out.flatten() if tgt is None else tgt.pack(batch.tgt_out)  # (P,)
    parts = []
    for start in range(0, gold.numel(), TOKENS_AT_ONCE):
        here = slice(start, start + TOKENS_AT_ONCE)
        each = [m.logits(state[here]) for m, state in zip(models, states, strict=True)]
        parts.append(log_mean(each).gather(1, gold[here, None]).squeeze(1))
    return torch.cat(parts).double()
