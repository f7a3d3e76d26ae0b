"""log Σ exp(z) over the vocabulary, which turns logits into log-probabilities: log p = z - log Σ.

PyTorch's logsumexp goes over the numbers three times; an exponential and a sum are two fast passes,
and no number of a model is so large that its exponential has no place in float32. Where one is, the
row is done again the careful way.

Letters: R rows, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dragoman.model.scripted import in_one_call

CACHED = 2**18  # numbers that stay in a core's own cache from one pass to the next


def log_sums_of_rows(logits: Tensor, cached: int = CACHED) -> Tensor:
    """log Σ exp of each row, for those who are in one call already: (R, V) -> (R,)."""
    if logits.dtype != torch.float64:
        logits = logits.float()
    n_rows = logits.size(0)
    if n_rows * logits.size(1) <= cached or logits.device.type != "cpu":
        sums = logits.exp().sum(-1)
    else:
        parts = torch.split(logits, max(1, cached // logits.size(1)))
        sums = torch.cat([part.exp().sum(-1) for part in parts])
    sums = sums.log_()
    if n_rows > 0:
        least, most = sums.aminmax()
        if not (float(least) > -69.0 and float(most) < 69.0):  # 1e-30, 1e30; or not a number
            return repaired(sums, logits, (sums > -69.0) & (sums < 69.0))
    return sums


log_sums = in_one_call(log_sums_of_rows)
"""log Σ exp of each row: (R, V) -> (R,).

>>> log_sums(torch.tensor([[0.0, 0.0], [1000.0, 0.0]])).tolist()
[0.6931471824645996, 1000.0]
"""


def log_sums_of(logits: Tensor, probs: Tensor) -> Tensor:
    """The same where the softmax is known: log Σ = z - log p of any token: (R, V) -> (R,).

    >>> log_sums_of(torch.zeros(1, 2), torch.full((1, 2), 0.5)).tolist()
    [0.6931471824645996]
    """
    first = probs[:, 0]
    sums = logits[:, 0].to(probs.dtype) - first.log()
    return repaired(sums, logits, first > 1e-30)


def repaired(sums: Tensor, logits: Tensor, is_sound: Tensor) -> Tensor:
    """The sums (R,), those that are not sound made anew from the logits (R, V)."""
    if not bool(is_sound.all()):
        odd = (~is_sound).nonzero().squeeze(1)
        sums[odd] = torch.logsumexp(logits[odd].to(sums.dtype), dim=-1)
    return sums
