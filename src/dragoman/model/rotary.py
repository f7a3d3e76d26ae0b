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


def turns(length: int, d_k: int, dtype: torch.dtype) -> Tensor:
    """The same angles as complex numbers: (L, K / 2).

    A pair of coordinates, taken for a complex number, is turned by one product with its own; where
    no gradient is asked for, that takes a fraction of the time of :class:`Rotation`.

    >>> turns(2, 2, torch.float64).flatten().tolist()  # by 0 and by 1 radian
    [(1+0j), (0.5403023058681398+0.8414709848078965j)]
    """
    angles = rotary_angles(torch.arange(length), d_k)
    return torch.polar(torch.ones_like(angles), angles).to(dtype.to_complex())


@dataclass(frozen=True)
class Rotation:
    """Turns (B, H, L, K) by the angles of L positions.

    >>> turn = Rotation.at(torch.tensor([0, 1]), d_k=2, dtype=torch.float64)
    >>> turned = turn(torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]]))  # by 0 and by 1 radian
    >>> [round(value, 3) for value in turned.flatten().tolist()]
    [1.0, 0.0, 0.54, 0.841]
    """

    cos: Tensor  # (L, K / 2)
    sin: Tensor  # (L, K / 2)

    @classmethod
    def at(cls, positions: Tensor, d_k: int, dtype: torch.dtype) -> Rotation:
        angles = rotary_angles(positions, d_k)
        return cls(angles.cos().to(dtype), angles.sin().to(dtype))

    def __call__(self, x: Tensor) -> Tensor:
        even, odd = x[..., 0::2], x[..., 1::2]  # (B, H, L, K / 2)
        turned = (even * self.cos - odd * self.sin, even * self.sin + odd * self.cos)
        return torch.stack(turned, dim=-1).flatten(-2)  # (B, H, L, K)
