"""R-Drop: two passes with other dropout are to predict alike (Liang and others, 2021).

    loss = (CE(p) + CE(q)) / 2 + α/2 · (KL(p ‖ q) + KL(q ‖ p)) / 2

p and q are what the two passes make of the same tokens. As in ``vocabulary_loss.py``, blocks of
rows go through projection, softmax and gradient while they are in the cache, and the gradient is
worked out on the way. With a = log p - log q and c = α/2, that of twice the loss is

    for the logits of p    p (1 + c (a - Σ p a + 1)) - c q - target
    for the logits of q    q (1 + c (Σ q a - a + 1)) - c p - target

Letters: P target tokens, C rows of one block, D d_model, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dragoman.model.log_sums import log_sums_of
from dragoman.training.label_smoothing import Smoothing
from dragoman.training.vocabulary_loss import Sums, TokenLosses, closed_sums, with_gradients

BLOCK_ELEMENTS = {"cpu": 1 << 21, "cuda": 1 << 26}  # logits of one block of one pass


def r_drop_loss(
    hidden: Tensor, weight: Tensor, gold_ids: Tensor, smoothing: Smoothing, alpha: float
) -> TokenLosses:
    """The summed loss of two passes, one after the other in ``hidden``: (2P, D), (V, D), (P,).

    The negative log-likelihood is the mean of the passes.

    >>> hidden, weight = torch.zeros(2, 3, requires_grad=True), torch.ones(5, 3)
    >>> losses = r_drop_loss(hidden, weight, torch.tensor([1]),
    ...                      Smoothing.of("uniform", 0.1, vocab_size=5), 5.0)
    >>> round(losses.loss.item(), 4)  # two that are alike: ln 5
    1.6094
    """
    with torch.no_grad(), torch.autocast(hidden.device.type, enabled=False):
        matrix = weight.to(hidden.dtype)
        sums, apart = _blocks(hidden, matrix, gold_ids, smoothing, alpha / 2)
        both, nll, *gradients = closed_sums(hidden, matrix, smoothing, sums, True)
    twice = with_gradients(both + alpha * apart, hidden, weight, *gradients)
    return TokenLosses(twice / 2, nll / 2)


def _blocks(
    hidden: Tensor, weight: Tensor, gold_ids: Tensor, smoothing: Smoothing, share: float
) -> tuple[Sums, Tensor]:
    """What the tokens of both passes add up to, and how far the passes are apart."""
    n_tokens, (vocab_size, d_model) = gold_ids.size(0), weight.shape
    wide = torch.float64 if hidden.dtype == torch.float64 else torch.float32
    limit = BLOCK_ELEMENTS.get(hidden.device.type, BLOCK_ELEMENTS["cuda"])
    n_rows = max(1, min(n_tokens, limit // vocab_size))
    pair = hidden.view(2, n_tokens, d_model)
    weight_t = weight.t().contiguous()  # (D, V); products with long rows are the faster ones
    d_pair = torch.empty_like(pair)
    d_weight_t = weight.new_zeros(weight_t.shape, dtype=wide)
    sums = torch.empty(2, n_tokens, dtype=wide, device=hidden.device)  # log Σ exp of each row
    gold_logits = torch.empty_like(sums)
    apart = sums.new_zeros(())
    for start in range(0, n_tokens, n_rows):
        rows = slice(start, start + n_rows)
        gold = gold_ids[rows, None]  # (C, 1)
        z, probs = [], []
        for each in range(2):
            logits = (pair[each, rows] @ weight_t).to(wide)  # (C, V)
            z.append(logits)
            probs.append(torch.softmax(logits, dim=-1))
            gold_logits[each, rows] = logits.gather(1, gold).squeeze(1)
            sums[each, rows] = log_sums_of(logits, probs[-1])
        p, q = probs
        a = z[0].sub_(z[1]).sub_((sums[0, rows] - sums[1, rows])[:, None])  # log p - log q
        mean_p, mean_q = (torch.linalg.vecdot(each, a)[:, None] for each in probs)  # Σ p a, Σ q a
        apart += (mean_p - mean_q).sum() / 2
        a *= share
        d_p = torch.add(a, 1 + share - share * mean_p, out=z[1])
        d_p.mul_(p).sub_(q, alpha=share)
        d_q = a.neg_().add_(1 + share + share * mean_q)
        d_q.mul_(q).sub_(p, alpha=share)
        for each, gradient in enumerate((d_p, d_q)):
            gradient.scatter_add_(1, gold, gradient.new_full(gold.shape, -smoothing.gold))
            g = gradient.to(hidden.dtype)
            torch.mm(g, weight, out=d_pair[each, rows])
            if g.dtype == wide:
                d_weight_t.addmm_(pair[each, rows].t(), g)
            else:
                d_weight_t += pair[each, rows].t() @ g
    flat = Sums(sums.flatten(), gold_logits.flatten(), d_pair.view_as(hidden), d_weight_t)
    return flat, apart
