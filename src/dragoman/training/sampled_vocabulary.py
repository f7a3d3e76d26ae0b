"""A part of the vocabulary that stands for all of it in the loss (Jean et al., 2015).

The softmax of a small model is a third of its work, and most of its probability lies on tokens that
the batch itself has. So these are summed one by one, and of the others each is drawn with the same
small probability r and counts 1 / r times: the sum over the vocabulary stays right on average.

Letters: P target tokens, V vocabulary, C tokens of the sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from dragoman.model.dropout import own_generator


@dataclass(frozen=True)
class Sample:
    """Tokens to sum over, and where the gold tokens are among them."""

    ids: Tensor  # (C,), rising
    log_weights: Tensor  # (C,): 0 for tokens of the batch, log 1/r for those that were drawn
    gold: Tensor  # (P,): positions in ids

    def spread(self, rows: Tensor, vocab_size: int) -> Tensor:
        """The rows of these tokens among rows of zeros for all others: (C, D) -> (V, D)."""
        return rows.new_zeros(vocab_size, rows.size(1)).index_copy_(0, self.ids, rows)


def draw_sample(gold_ids: Tensor, vocab_size: int, share: float) -> Sample:
    """The gold tokens, and each other token with the probability ``share``.

    >>> sample = draw_sample(torch.tensor([7, 3, 7]), 10, 1e-9)
    >>> sample.ids.tolist(), sample.gold.tolist(), sample.log_weights.tolist()
    ([3, 7], [1, 0, 1], [0.0, 0.0])
    """
    device = gold_ids.device
    generator = own_generator() if device.type == "cpu" else None
    is_chosen = torch.rand(vocab_size, device=device, generator=generator) < share
    log_weights = torch.full((vocab_size,), -math.log(share), device=device)
    is_chosen[gold_ids] = True
    log_weights[gold_ids] = 0.0
    ids = is_chosen.nonzero().squeeze(1)
    position = is_chosen.cumsum(0) - 1  # of each chosen token among them
    return Sample(ids=ids, log_weights=log_weights[ids], gold=position[gold_ids])
