"""The best few of all continuations of a sentence, found without sorting the vocabulary.

A block of the vocabulary cannot hold one of the best k continuations unless its own best one is
among the best k blocks. So the best of each block is found first, which is one fast pass, and only
the tokens of k blocks are compared with each other.

Letters: B sentences, N beams, R = B * N rows, V vocabulary, G blocks of a row, W tokens of a
block, k blocks chosen.
"""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

from dragoman.model.scripted import in_one_call

SMALL = 256  # vocabularies up to this size are looked through as they are
FEW = 4  # so many rows are, too, where only the best is looked for


def likeliest(logits: Tensor) -> tuple[Tensor, Tensor]:
    """The best token of each row, the first of equals, and its logit: (R, V) -> (R,), (R,).

    >>> likeliest(torch.arange(600.0).view(2, 300))[0].tolist()
    [299, 299]
    """
    return find_likeliest(logits, block_width(logits.size(1)))


def likeliest_of_rows(
    logits: Tensor, width: int, few: int = FEW, small: int = SMALL
) -> tuple[Tensor, Tensor]:
    """The same with blocks of this width, for those who are in one call already."""
    n_rows, size = logits.shape
    if n_rows <= few or size <= small:
        best, ids = logits.max(-1)
        return ids, best
    blocks = in_blocks(logits, width)  # (R, G, W)
    _, chosen = blocks.amax(-1).max(-1)  # (R,)
    places = chosen[:, None, None].expand(-1, 1, width)
    best, inside = blocks.gather(1, places).squeeze(1).max(-1)
    return torch.add(inside, chosen, alpha=width), best


find_likeliest = in_one_call(likeliest_of_rows)


def best_continuations(
    log_probs: Tensor, so_far: Tensor, n_best: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities, beams and tokens of the best: (R, V), (B, N) -> three times (B, n_best).

    ``so_far`` is added to all of a row: the log-probability of its beginning and, where the row
    has logits, less the logarithm of their sum. The results are in falling order; fewer are given
    where there are fewer.

    >>> log_probs = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]).log()
    >>> values, beams, tokens = best_continuations(log_probs, torch.zeros(1, 2), 2)
    >>> beams.tolist(), tokens.tolist()
    ([[1, 0]], [[2, 0]])
    """
    if log_probs.size(1) <= SMALL:
        return compare_all(log_probs, so_far, n_best)
    blocks = in_blocks(log_probs, block_width(log_probs.size(1)))
    values, beams, tokens = compare_blocks(blocks, so_far, n_best)
    # Where fewer than n_best are possible at all, a token that is none may have been added.
    return values, beams, tokens.clamp_(max=log_probs.size(1) - 1)


@in_one_call
def compare_all(log_probs: Tensor, so_far: Tensor, n_best: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best of all continuations: (R, V), (B, N) -> three times (B, n_best)."""
    (n_sentences, n_beams), size = so_far.shape, log_probs.size(1)
    totals = log_probs.view(n_sentences, n_beams, size) + so_far[:, :, None]
    values, places = totals.flatten(1).topk(min(n_best, n_beams * size), dim=-1)
    return values, places // size, places % size


@in_one_call
def compare_blocks(blocks: Tensor, so_far: Tensor, n_best: int) -> tuple[Tensor, Tensor, Tensor]:
    """The same of a vocabulary in blocks: (R, G, W), (B, N) -> three times (B, n_best)."""
    n_sentences, n_beams = so_far.shape
    _, n_blocks, width = blocks.shape
    best = blocks.amax(-1).view(n_sentences, n_beams, n_blocks) + so_far[:, :, None]
    _, chosen = best.flatten(1).topk(min(n_best, n_beams * n_blocks), dim=-1)  # (B, k)
    n_chosen = chosen.size(1)
    first = torch.arange(n_sentences, device=chosen.device)[:, None] * (n_beams * n_blocks)
    values = blocks.view(-1, width).index_select(0, (chosen + first).view(-1))
    beams = chosen // n_blocks  # (B, k)
    values = values.view(n_sentences, n_chosen, width) + so_far.gather(1, beams)[:, :, None]
    values = values.flatten(1)
    found, places = values.topk(min(n_best, values.size(1)), dim=-1)  # (B, n_best)
    chosen = chosen.gather(1, places // width)
    return found, chosen // n_blocks, chosen % n_blocks * width + places % width


def in_blocks(scores: Tensor, width: int) -> Tensor:
    """The vocabulary cut into blocks of this width: (R, V) -> (R, G, W)."""
    n_rows, size = scores.shape
    if size % width > 0:
        scores = functional.pad(scores, [0, width - size % width], value=-math.inf)
    return scores.view(n_rows, -1, width)


@cache
def block_width(size: int) -> int:
    """How wide a block is: about 64, and where one can be, a divisor of the vocabulary."""
    whole = [width for width in range(32, 161, 8) if size % width == 0]
    # A processor takes 16 numbers at a time.
    return min(whole, key=lambda width: (width % 16, abs(width - 64)), default=64)
