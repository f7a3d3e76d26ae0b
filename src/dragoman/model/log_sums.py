"""log Σ exp(z) over the vocabulary, which turns logits into log-probabilities: log p = z - log Σ.

PyTorch's softmax is one fast pass; its log-softmax and logsumexp are slower ones. But a softmax is
all it takes: log Σ = z - log p for any one token of a row.

Letters: R rows, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

FAINT = 1e-30  # a probability too small to be told from zero


def log_sums(logits: Tensor, probs: Tensor | None = None) -> Tensor:
    """log Σ exp of each row, given its softmax where that is known: (R, V) -> (R,).

    >>> log_sums(torch.tensor([[0.0, 0.0], [1000.0, 0.0]])).tolist()
    [0.6931471824645996, 1000.0]
    """
    if probs is None:
        probs = torch.softmax(logits, dim=-1)  # (R, V)
    first = probs[:, 0]
    sums = logits[:, 0].to(probs.dtype) - first.log()
    if first.numel() and float(first.min()) < FAINT:
        faint = (first < FAINT).nonzero().squeeze(1)
        sums[faint] = torch.logsumexp(logits[faint].to(probs.dtype), dim=-1)
    return sums
