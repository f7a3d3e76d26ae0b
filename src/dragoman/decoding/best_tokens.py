"""The best few of all continuations of a sentence, found without sorting the vocabulary.

A block of the vocabulary cannot hold one of the best k continuations unless its own best one is
among the best k blocks. So the best of each block is found first, which is one fast pass, and only
the tokens of k blocks are compared with each other.

Letters: B sentences, N beams, R = B * N rows, V vocabulary, G blocks of a row.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dragoman.model.scripted import in_one_call

BLOCK = 64  # vocabularies of up to four blocks are sorted as they are


@in_one_call
def likeliest(logits: Tensor, block: int = BLOCK) -> Tensor:
    """The best token of each row, the first of equals, as ``argmax`` has it: (R, V) -> (R,).

    >>> likeliest(torch.arange(600.0).view(2, 300)).tolist()
    [299, 299]
    """
    n_rows, size = logits.shape
    if size <= 4 * block:
        return logits.argmax(-1)
    n_blocks = size // block
    whole = logits[:, : n_blocks * block].view(n_rows, n_blocks, block)
    best = whole.amax(-1)  # (R, G)
    chosen = best.argmax(-1, keepdim=True)  # (R, 1)
    inside = whole.gather(1, chosen[:, :, None].expand(-1, 1, block)).squeeze(1).argmax(-1)
    found = chosen.squeeze(1) * block + inside
    if n_blocks * block == size:
        return found
    rest = logits[:, n_blocks * block :]  # what the last block would hold
    value, place = rest.max(-1)
    return torch.where(value > best.gather(1, chosen).squeeze(1), n_blocks * block + place, found)


@in_one_call
def best_continuations(
    log_probs: Tensor, so_far: Tensor, n_best: int, block: int = BLOCK
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
    n_sentences, n_beams = so_far.shape
    size = log_probs.size(1)
    if size <= 4 * block:
        totals = log_probs.view(n_sentences, n_beams, size) + so_far[:, :, None]
        values, places = totals.flatten(1).topk(min(n_best, n_beams * size), dim=-1)
        return values, places // size, places % size
    candidates, beams, tokens = find_candidates(log_probs, so_far, n_best, block)
    values, places = candidates.topk(min(n_best, candidates.size(1)), dim=-1)
    return values, beams.gather(1, places), tokens.gather(1, places)


def find_candidates(
    log_probs: Tensor, so_far: Tensor, n_best: int, block: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Continuations among which the best are: log-probabilities, beams, tokens: (B, C) each."""
    n_sentences, n_beams = so_far.shape
    n_blocks, size = log_probs.size(1) // block, log_probs.size(1)
    n_whole = n_blocks * block
    blocks = log_probs[:, :n_whole].view(-1, n_blocks, block)  # (R, G, 64)
    best = blocks.amax(-1).view(n_sentences, n_beams, n_blocks) + so_far[:, :, None]
    _, chosen = best.flatten(1).topk(min(n_best, n_beams * n_blocks), dim=-1)  # (B, k)
    beams, numbers = chosen // n_blocks, chosen % n_blocks
    rows = beams + n_beams * torch.arange(n_sentences, device=beams.device)[:, None]
    inside = torch.arange(block, device=beams.device)
    values = blocks[rows, numbers] + so_far.gather(1, beams)[:, :, None]  # (B, k, 64)
    tokens = numbers[:, :, None] * block + inside
    beams = beams[:, :, None].expand_as(tokens)
    if n_whole == size:
        return values.flatten(1), beams.flatten(1), tokens.flatten(1)
    # What the last block would hold is always compared.
    rest = log_probs[:, n_whole:].view(n_sentences, n_beams, -1) + so_far[:, :, None]
    last = torch.arange(n_whole, size, device=beams.device).expand_as(rest)
    beam = torch.arange(n_beams, device=beams.device)[None, :, None].expand_as(rest)
    return (
        torch.cat([values.flatten(1), rest.flatten(1)], dim=1),
        torch.cat([beams.flatten(1), beam.flatten(1)], dim=1),
        torch.cat([tokens.flatten(1), last.flatten(1)], dim=1),
    )
