"""Two pieces of work at once, each on half of the cores.

The operations of a small model are too short to be shared among cores: each ends with all cores
waiting for the last. Two pieces of work, each with cores of its own, never wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


def two_at_once(work: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """What ``work`` makes of each item, in order; one by one where there is one core or one item.

    >>> list(two_at_once(lambda n: n * n, [1, 2, 3]))
    [1, 4, 9]
    """
    n_threads = torch.get_num_threads()
    if n_threads < 2 or len(items) < 2:
        yield from map(work, items)
        return
    half = n_threads // 2
    with _threads(half):
        pool = ThreadPoolExecutor(2, "half", torch.set_num_threads, (half,))
        try:
            # Nobody waits for what comes after a failure, but for what is under way.
            yield from pool.map(work, items)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _threads(n: int) -> Iterator[None]:
    """PyTorch with so many threads for one operation."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
