"""The guard against endless repetition.

A model that has lost its way says the same few tokens again and again until there is no room left.
A hypothesis goes in circles when it ends in one block of up to ``LONGEST_BLOCK`` tokens, said at
least ``TIMES`` times in a row, over more tokens than the whole source has (and ``AT_LEAST``). An
honest translation repeats itself too, "very, very, very", or copies a row of dots; but not for
longer than everything it translates. Such a hypothesis has to end where it is, at the price of
an unlikely EOS: others of the beam win over it, and where there is none, the result says so.
"""

from __future__ import annotations

import torch
from torch import Tensor

LONGEST_BLOCK = 8
TIMES = 4
AT_LEAST = 16
LOOK_EVERY = 8  # steps between two looks


def is_time_to_look(n_tokens: int) -> bool:
    """Whether hypotheses of this length are looked at; the same for whatever batch they are in."""
    return n_tokens >= AT_LEAST and n_tokens % LOOK_EVERY == 0


def until_next_look(n_tokens: int) -> int:
    """How many tokens more a hypothesis of this length has when it is looked at next.

    >>> until_next_look(0), until_next_look(15), until_next_look(16)
    (16, 1, 8)
    """
    return max(AT_LEAST - n_tokens, LOOK_EVERY - n_tokens % LOOK_EVERY)


def goes_in_circles(ids: Tensor, src_lengths: Tensor) -> Tensor:
    """Which rows end in a repetition longer than their source: (R, T), (R,) -> (R,) bool.

    >>> ids = torch.tensor([[9, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8]])
    >>> goes_in_circles(ids, torch.tensor([5])), goes_in_circles(ids, torch.tensor([17]))
    (tensor([True]), tensor([False]))
    """
    allowed = src_lengths.clamp(min=AT_LEAST)
    found = torch.zeros_like(src_lengths, dtype=torch.bool)
    for block in range(1, min(LONGEST_BLOCK, ids.size(1) - 1) + 1):
        same = ids[:, block:] == ids[:, :-block]  # token t equals token t - block
        run = same.flip(1).cumprod(1).sum(1)  # how many of them at the end, without a break
        found |= (run + block >= allowed) & (run >= (TIMES - 1) * block)
    return found
