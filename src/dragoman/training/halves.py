"""Two halves of a batch at once, each on half of the cores.

The halves meet where their gradients are added up. A sum of two is the same in either order, so
that an update stays reproducible to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.cores import two_at_once
from dragoman.model.dropout import drawing_from

Train = Callable[[Batch], Tensor]
"""Adds a batch's gradients to those of the parameters; gives what the batch tells."""


def train_in_halves(train: Train, batch: Batch) -> list[Tensor]:
    """What ``train`` tells of the batch, or of its halves where there are cores for both."""
    parts = batch.halves() if torch.get_num_threads() > 1 else [batch]
    if len(parts) == 1:
        return [train(batch)]
    # The second draws from a stream of its own, which the step's own numbers decide.
    other = torch.Generator().manual_seed(int(torch.randint(1 << 62, ())))

    def train_half(number: int) -> Tensor:
        with nullcontext() if number == 0 else drawing_from(other):
            return train(parts[number])

    return list(two_at_once(train_half, (0, 1)))
