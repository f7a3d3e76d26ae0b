"""How the model tells positions apart (3.5): waves of many lengths, or learned vectors.

PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos(the same). The waves extend to any
length; learned vectors end where their table ends, and say so.

Letters: L length, D d_model, P packed tokens.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor, nn

from dragoman.errors import InputTooLongError


def sinusoidal_encoding(length: int, d_model: int) -> Tensor:
    """The encoding of positions 0 … length - 1, in float64: (L, D).

    >>> sinusoidal_encoding(2, 4)[0].tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    position = torch.arange(length, dtype=torch.float64)[:, None]
    pair = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10_000 ** (pair / d_model)  # (L, D / 2)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # sine and cosine interleaved


@lru_cache(maxsize=32)
def _table(length: int, d_model: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return sinusoidal_encoding(length, d_model).to(device=device, dtype=dtype)


class SinusoidalPositions(nn.Module):
    """The waves as a table that grows with the longest sentence seen; it has no parameters."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model

    def forward(self, length: int, like: Tensor) -> Tensor:
        """The first ``length`` rows, in the type and on the device of ``like``: (L, D)."""
        if torch.compiler.is_compiling():  # what is traced is no table to keep for later calls
            return sinusoidal_encoding(length, self.d_model).to(like)
        rounded = max(256, 1 << (length - 1).bit_length())  # few tables, each used often
        return _table(rounded, self.d_model, like.dtype, like.device)[:length]


class LearnedPositions(nn.Module):
    """One learned vector a position, up to ``max_positions`` (Table 3, row E)."""

    def __init__(self, max_positions: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_positions, d_model))

    def forward(self, length: int, like: Tensor) -> Tensor:
        """The first ``length`` rows: (L, D)."""
        if length > self.weight.size(0):
            raise InputTooLongError(
                f"a sentence of {length:,} tokens: this model learned positions up to "
                f"{self.weight.size(0):,}.\n  Split the sentence, or train with a larger "
                "model.max_positions or with sinusoidal positions, which know no limit."
            )
        return self.weight[:length]
