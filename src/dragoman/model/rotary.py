"""Rotary positions: an option beyond the paper, after Su et al. (2021).

In place of adding something to the embedding, each pair of coordinates of a query or key is turned
by an angle that grows with its position, so that their product depends on the distance alone.

Letters: B sentences, H heads, L length, K d_k.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


def rotary_angles(positions: Tensor, d_k: int) -> Tensor:
    """The angle of each pair of coordinates at each position, in float64: (L,) -> (L, K / 2)."""
    pair = torch.arange(0, d_k, 2, dtype=torch.float64, device=positions.device)
    return positions.double()[:, None] / 10_000 ** (pair / d_k)


@dataclass(frozen=True)
class Rotation:
    """Turns (B, H, L, K) by the angles of L positions.

    Each pair of coordinates is taken for a complex number, so that one product turns it.

    >>> turn = Rotation.at(torch.tensor([0, 1]), d_k=2, dtype=torch.float64)
    >>> turned = turn(torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]]))  # by 0 and by 1 radian
    >>> [round(value, 3) for value in turned.flatten().tolist()]
    [1.0, 0.0, 0.54, 0.841]
    """

    turns: Tensor  # (L, K / 2), complex numbers of length 1

    @classmethod
    def at(cls, positions: Tensor, d_k: int, dtype: torch.dtype) -> Rotation:
        angles = rotary_angles(positions, d_k)
        if dtype.itemsize < torch.float32.itemsize:  # no complex numbers of 16 bits train
            dtype = torch.float32
        return cls(torch.complex(angles.cos().to(dtype), angles.sin().to(dtype)))

    def __call__(self, x: Tensor) -> Tensor:
        # Not an expense: what is strided would be copied later.
        numbers = x.to(self.turns.real.dtype).contiguous()
        pairs = torch.view_as_complex(torch.unflatten(numbers, -1, (-1, 2)))  # (B, H, L, K / 2)
        return torch.view_as_real(pairs * self.turns).flatten(-2).to(x.dtype)  # (B, H, L, K)
