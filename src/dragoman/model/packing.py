"""The real tokens of a padded batch side by side, so that padding costs no arithmetic.

Everything in a layer but attention looks at one position at a time, so it can work on the P real
tokens in a row, (P, D), as well as on the padded rectangle (B, L, D). Attention alone needs the
rectangle: it pads before and packs after.

Letters: B sentences, L length, P real tokens, E any width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Packing costs two copies in every attention layer; below this share of padding they cost more
# than the arithmetic they save.
PACK_FROM = 0.12


@dataclass(frozen=True)
class Packing:
    """Where the real tokens of a (B, L) batch stand.

    >>> packing = Packing.of(torch.tensor([[7, 8], [9, 0]]), pad_id=0)
    >>> packed = packing.pack(torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]]]))
    >>> packed.flatten().tolist()
    [1.0, 2.0, 3.0]
    >>> packing.pad(packed).flatten().tolist()
    [1.0, 2.0, 3.0, 0.0]
    """

    index: Tensor  # (P,) positions b * L + l, rising
    batch: int
    length: int

    @classmethod
    def of(cls, ids: Tensor, pad_id: int) -> Packing | None:
        """The packing of padded ids (B, L); None where there is no padding at all."""
        is_real = (ids != pad_id).flatten()
        index = is_real.nonzero().squeeze(1)
        return cls(index, *ids.shape) if index.numel() < ids.numel() else None

    @property
    def padding(self) -> float:
        """The share of the rectangle that is padding."""
        return 1 - self.index.numel() / (self.batch * self.length)

    def pack(self, x: Tensor) -> Tensor:
        """(B, L, E) -> (P, E), or (B, L) -> (P,)."""
        return x.flatten(0, 1).index_select(0, self.index)

    def pad(self, x: Tensor) -> Tensor:
        """(P, E) -> (B, L, E), zeros where padding stands."""
        padded = x.new_zeros(self.batch * self.length, x.size(-1))
        return padded.index_copy_(0, self.index, x).view(self.batch, self.length, -1)

    def positions(self) -> Tensor:
        """The position of each real token in its sentence: (P,)."""
        return torch.remainder(self.index, self.length)
