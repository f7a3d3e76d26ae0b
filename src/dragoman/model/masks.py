"""Who may look at whom (3.2.3): boolean masks, True = may attend.

Letters: B sentences, L query length, M key length. Every mask broadcasts to (B, H, L, M).
"""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """True where a key is a real token: (B, M) -> (B, 1, 1, M).

    >>> padding_mask(torch.tensor([[5, 6, 0]]), pad_id=0).tolist()
    [[[[True, True, False]]]]
    """
    return (ids != pad_id)[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """True where the key stands at the query's position or before it: (1, 1, L, L).

    >>> causal_mask(3)[0, 0].int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def window_mask(length: int, window: int, device: torch.device | None = None) -> Tensor:
    """True where query and key are at most ``window`` positions apart: (1, 1, L, L).

    The restricted self-attention of section 4; a neighbourhood of r = 2 * window + 1 positions.

    >>> window_mask(4, 1)[0, 0].int().tolist()
    [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    """
    position = torch.arange(length, device=device)
    return ((position[:, None] - position[None, :]).abs() <= window)[None, None]


def encoder_mask(ids: Tensor, pad_id: int, window: int | None = None) -> Tensor:
    """The keys that encoder self-attention may see: (B, 1, 1 or L, M)."""
    mask = padding_mask(ids, pad_id)
    if window is None:
        return mask
    return mask & window_mask(ids.size(1), window, ids.device)


def decoder_mask(ids: Tensor, pad_id: int, window: int | None = None) -> Tensor:
    """Real tokens that do not lie in the future: (B, 1, L, L).

    >>> decoder_mask(torch.tensor([[5, 6, 0]]), pad_id=0)[0, 0].int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    """
    return encoder_mask(ids, pad_id, window) & causal_mask(ids.size(1), ids.device)
