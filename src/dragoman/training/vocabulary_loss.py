"""The output projection and the loss in one, a few rows at a time.

The plain way writes the logits of all P tokens, (P, V), reads them for the softmax, writes the
probabilities, reads them again for the gradient: hundreds of megabytes that no cache holds. Here a
block of rows goes through projection, softmax and gradient while it is still in the cache, and only
the gradients of the hidden states, (P, D), and of the matrix, (V, D), leave it. Since the loss is a
sum, its gradient is known up to a factor as soon as it is: the backward pass only multiplies.

The smoothed part of the target, the same for every token, is never subtracted from (P, V) numbers:
its share of both gradients is a sum of rows, made once.

Where the sum over the vocabulary may be an estimate, it is one over a part of it
(``sampled_vocabulary.py``); all else stays exact.

Letters: P target tokens, C rows of one block, D d_model, V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dragoman.model.log_sums import log_sums_of
from dragoman.training.label_smoothing import Smoothing
from dragoman.training.sampled_vocabulary import Sample, draw_sample

BLOCK_ELEMENTS = {"cpu": 1 << 22, "cuda": 1 << 27}  # logits of one block: 16 MB on a CPU


@dataclass(frozen=True)
class TokenLosses:
    """What one pass over the vocabulary tells about P target tokens."""

    loss: Tensor  # the smoothed loss, summed; differentiable
    nll: Tensor  # -log p(gold), summed; for perplexity


def vocabulary_loss(
    hidden: Tensor, weight: Tensor, gold_ids: Tensor, smoothing: Smoothing, *, share: float = 1.0
) -> TokenLosses:
    """The summed loss of hidden states under the output matrix: (P, D), (V, D), (P,) -> sums.

    With a ``share`` below 1 the sum over the vocabulary is estimated from the gold tokens and this
    share of the others.

    >>> hidden, weight = torch.zeros(2, 3, requires_grad=True), torch.ones(5, 3)
    >>> losses = vocabulary_loss(hidden, weight, torch.tensor([1, 4]),
    ...                          Smoothing.of("uniform", 0.1, vocab_size=5))
    >>> round(losses.loss.item(), 4), round(losses.nll.item(), 4)  # 2 ln 5
    (3.2189, 3.2189)
    """
    need_grad = torch.is_grad_enabled() and (hidden.requires_grad or weight.requires_grad)
    with torch.no_grad(), torch.autocast(hidden.device.type, enabled=False):
        matrix = weight.to(hidden.dtype)
        sample = draw_sample(gold_ids, len(matrix), share) if share < 1 else None
        sums = _blocks(hidden, matrix, gold_ids, smoothing, need_grad=need_grad, sample=sample)
        loss, nll, *gradients = closed_sums(hidden, matrix, smoothing, sums, need_grad)
    return TokenLosses(with_gradients(loss, hidden, weight, *gradients) if need_grad else loss, nll)


def with_gradients(
    loss: Tensor, hidden: Tensor, weight: Tensor, d_hidden: Tensor, d_weight: Tensor
) -> Tensor:
    """A loss whose gradients are known already, made differentiable."""
    known: Tensor = _KnownGradients.apply(hidden, weight, loss, d_hidden, d_weight)  # type: ignore[no-untyped-call]
    return known


class _KnownGradients(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, _hidden: Tensor, weight: Tensor, loss: Tensor, d_hidden: Tensor, d_weight: Tensor
    ) -> Tensor:
        ctx.save_for_backward(d_hidden, d_weight)
        ctx.weight_dtype = weight.dtype
        return loss.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_weight = ctx.saved_tensors
        # A tensor without dimensions does not widen the other: each gradient keeps its own type.
        return d_hidden * d_loss, (d_weight * d_loss).to(ctx.weight_dtype), None, None, None


def _blocks(
    hidden: Tensor,
    weight: Tensor,
    gold_ids: Tensor,
    smoothing: Smoothing,
    *,
    need_grad: bool,
    sample: Sample | None,
) -> Sums:
    """Log sums, gold logits and both gradients, block by block, over all tokens or a sample."""
    n_all = weight.size(0)
    if sample is not None:
        weight, gold_ids = weight[sample.ids], sample.gold
    n_tokens, vocab_size = hidden.size(0), weight.size(0)
    wide = torch.float64 if hidden.dtype == torch.float64 else torch.float32
    limit = BLOCK_ELEMENTS.get(hidden.device.type, BLOCK_ELEMENTS["cuda"])
    n_blocks = max(1, math.ceil(n_tokens / max(1, limit // max(1, vocab_size))))
    n_rows = max(1, math.ceil(n_tokens / n_blocks))  # blocks of one size, none larger than it must
    logits = hidden.new_empty(n_rows, vocab_size)
    probs = torch.empty_like(logits, dtype=wide)
    d_hidden = torch.empty_like(hidden) if need_grad else hidden.new_empty(0)
    d_weight_t = weight.new_zeros(weight.t().shape if need_grad else 0, dtype=wide)  # (D, V)
    weight_t = weight.t().contiguous()  # (D, V); products with long rows are the faster ones
    sums = torch.empty(n_tokens, dtype=wide, device=hidden.device)  # log Σ exp of each row
    gold_logits = torch.empty_like(sums)
    for start in range(0, n_tokens, n_rows):
        rows = slice(start, start + n_rows)
        gold = gold_ids[rows, None]  # (C, 1)
        z, p = logits[: gold.size(0)], probs[: gold.size(0)]
        torch.mm(hidden[rows], weight_t, out=z)  # (C, V)
        if sample is not None:
            z += sample.log_weights.to(z.dtype)  # a drawn token stands for those that were not
        torch.softmax(z, dim=-1, dtype=wide, out=p)  # (C, V)
        gold_logits[rows] = z.gather(1, gold).squeeze(1)
        sums[rows] = log_sums_of(z, p)
        if need_grad:
            # p - q, but for what all tokens share, which is added for all rows at once below
            p.scatter_add_(1, gold, p.new_full(gold.shape, -smoothing.gold))
            g = p.to(hidden.dtype)
            torch.mm(g, weight, out=d_hidden[rows])
            if g.dtype == wide:
                d_weight_t.addmm_(hidden[rows].t(), g)
            else:
                d_weight_t += hidden[rows].t() @ g
    if sample is not None and need_grad:
        d_weight_t = sample.spread(d_weight_t.t(), n_all).t()
    return Sums(sums, gold_logits, d_hidden, d_weight_t)


@dataclass(frozen=True)
class Sums:
    """What the blocks leave, still without the part of the target that all tokens share."""

    log_sums: Tensor  # (P,) log Σ exp of each row
    gold_logits: Tensor  # (P,)
    d_hidden: Tensor  # (P, D)
    d_weight_t: Tensor  # (D, V)


def closed_sums(
    hidden: Tensor, weight: Tensor, smoothing: Smoothing, sums: Sums, need_grad: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Loss, negative log-likelihood and both gradients, with what all tokens share put in."""
    (n_tokens, vocab_size), wide = (hidden.size(0), weight.size(0)), sums.log_sums.dtype
    nll = sums.log_sums.sum() - sums.gold_logits.sum()
    every = weight.to(wide).sum(0)  # (D,): the logits of all tokens add up to hidden · every
    if smoothing.pad_id is not None:
        every -= weight[smoothing.pad_id].to(wide)
    n_other = vocab_size - (smoothing.pad_id is not None)
    hidden_sum = hidden.to(wide).sum(0)  # (D,)
    every_log_prob = hidden_sum @ every - n_other * sums.log_sums.sum()
    loss = smoothing.constant * n_tokens + smoothing.gold * nll - smoothing.other * every_log_prob
    d_hidden, d_weight = sums.d_hidden, sums.d_weight_t.t()
    if need_grad:
        d_hidden -= (smoothing.other * every).to(hidden.dtype)
        d_weight -= smoothing.other * hidden_sum
        if smoothing.pad_id is not None:
            d_weight[smoothing.pad_id] += smoothing.other * hidden_sum
    return loss, nll, d_hidden, d_weight
