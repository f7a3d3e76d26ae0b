"""The likeliest token at every step: the fastest search, and the beam of width one.

Letters: B sentences, S source length, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dragoman.model.transformer import Transformer
from dragoman.tokenize.vocabulary import BOS_ID, EOS_ID, PAD_ID

# Rows of finished sentences are dropped when so large a share of the batch is finished: copying
# the cache costs, and a step on few rows costs nearly as much as one on a few more.
SHRINK_FROM = 0.25


@torch.inference_mode()
def greedy(model: Transformer, src_ids: Tensor, *, max_extra: int = 50) -> list[list[int]]:
    """The target ids of each source, without BOS and EOS: (B, S) -> B lists.

    A translation has at most ``max_extra`` pieces more than its source has tokens.

    >>> from dragoman.config import ModelConfig
    >>> config = ModelConfig(d_model=8, n_heads=2, n_layers=1, d_ff=16, vocab_size=11)
    >>> found = greedy(Transformer(config).eval(), torch.tensor([[5, 6, 2]]), max_extra=4)
    >>> len(found), len(found[0]) <= 7
    (1, True)
    """
    limits = (src_ids != PAD_ID).sum(1) + max_extra  # (B,)
    cache = model.start(src_ids, n_beams=1, capacity=int(limits.max()))
    found = torch.full((src_ids.size(0), cache.capacity), EOS_ID, device=src_ids.device)
    alive = torch.arange(src_ids.size(0), device=src_ids.device)  # the sentence of each row
    ids = torch.full_like(alive, BOS_ID)
    done = torch.zeros_like(alive, dtype=torch.bool)
    while True:
        position = cache.length
        logits = model.step(ids, cache)  # (rows, V)
        logits[:, (PAD_ID, BOS_ID)] = -torch.inf
        ids = logits.argmax(-1)  # (rows,)
        found[alive, position] = ids.masked_fill(done, EOS_ID)
        done |= (ids == EOS_ID) | (position + 1 >= limits[alive])
        n_done = int(done.sum())
        if n_done == done.numel():
            break
        if n_done >= SHRINK_FROM * done.numel():
            kept = (~done).nonzero().squeeze(1)
            cache.keep(kept)
            ids, alive, done = ids[kept], alive[kept], done[kept]
    return [row[: row.index(EOS_ID)] if EOS_ID in row else row for row in found.tolist()]
