"""Two halves of a batch at once, each on half of the cores.

The operations of a small model are too short to be shared among cores: each ends with all cores
waiting for the last. Two halves of the batch, each with cores of its own, never wait for each other
until their gradients are added up. And a sum of two is the same in either order, so that an update
stays reproducible to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache

import torch
from torch import Tensor

from dragoman.batches.batch import Batch
from dragoman.model.dropout import drawing_from

Train = Callable[[Batch], Tensor]
"""Adds a batch's gradients to those of the parameters; gives what the batch tells."""


def train_in_halves(train: Train, batch: Batch) -> list[Tensor]:
    """What ``train`` tells of the batch, or of its halves where there are cores for both."""
    n_threads = torch.get_num_threads()
    parts = batch.halves() if n_threads > 1 else [batch]
    if len(parts) == 1:
        return [train(batch)]
    # A stream of random numbers of its own, which the step's own numbers decide.
    generator = torch.Generator().manual_seed(int(torch.randint(1 << 62, ())))

    def second() -> Tensor:
        with drawing_from(generator):
            return train(parts[1])

    with _threads(n_threads // 2):
        later = _helper(n_threads // 2).submit(second)
        try:
            first = train(parts[0])
        finally:
            later.exception()  # nobody leaves while the other still works
        return [first, later.result()]


@lru_cache(maxsize=1)
def _helper(n_threads: int) -> ThreadPoolExecutor:
    """The one other thread, with so many threads of its own for its operations."""
    return ThreadPoolExecutor(1, "half", torch.set_num_threads, (n_threads,))


@contextmanager
def _threads(n: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
