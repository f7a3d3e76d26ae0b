"""Dropout (5.4) whose random numbers cost little on a CPU.

PyTorch draws one 64-bit random number for each element on a CPU, which takes longer than the small
matrix products of a layer. One such number holds four 16-bit ones, which is enough to decide four
elements: the probability is exact to 1/65,536, and the scale is that of the rounded probability,
so that the expected value is exactly x.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

_LEVELS = 65_536  # values of a 16-bit number
_this_thread = threading.local()


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Inside it, this thread draws from ``generator``, so that no other changes what it draws."""
    _this_thread.generator = generator
    try:
        yield
    finally:
        _this_thread.generator = None


def own_generator() -> torch.Generator | None:
    """What this thread draws from on the CPU; None: PyTorch's generator, as ever."""
    return getattr(_this_thread, "generator", None)


def dropout(x: Tensor, p: float, *, training: bool) -> Tensor:
    """x with a share p of its elements set to zero and the rest scaled up; x itself in evaluation.

    >>> bool((dropout(torch.ones(4), 0.5, training=False) == 1).all())
    True
    """
    if not training or p == 0.0:
        return x
    if x.device.type != "cpu":
        return functional.dropout(x, p, training=True)
    return x * keep_mask(x.shape, p, x.dtype)


def keep_mask(shape: torch.Size, p: float, dtype: torch.dtype) -> Tensor:
    """Zeros with probability p, elsewhere 1 / (1 - p), drawn on the CPU."""
    n = shape.numel()
    n_dropped = min(round(p * _LEVELS), _LEVELS - 1)
    words = torch.empty((n + 3) // 4, dtype=torch.int64)
    words.random_(-(2**63), None, generator=own_generator())
    bits = words.view(torch.int16)[:n].view(shape)
    keep = bits >= n_dropped - _LEVELS // 2
    return keep * torch.tensor(_LEVELS / (_LEVELS - n_dropped), dtype=dtype)


class Dropout(nn.Module):
    """``dropout`` with its probability, following the module's training mode.

    >>> Dropout(0.1).eval()(torch.ones(2)).tolist()
    [1.0, 1.0]
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p, training=self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}"
