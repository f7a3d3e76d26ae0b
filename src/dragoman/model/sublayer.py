"""What surrounds every sub-layer (3.1, 5.4): dropout, the residual sum, layer normalization.

post-norm, the paper:                      x = Norm(x + Dropout(f(x)))
pre-norm, the Annotated Transformer's:     x = x + Dropout(f(Norm(x))), and a norm after the stack
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from dragoman.config import Norm
from dragoman.model.dropout import dropout


def residual(
    x: Tensor,
    sublayer: Callable[[Tensor], Tensor],
    *,
    norm: nn.Module,
    order: Norm,
    dropout_p: float,
) -> Tensor:
    """x after one sub-layer, in the given order; same shape.

    >>> import torch
    >>> double = lambda t: 2 * t
    >>> residual(torch.ones(2), double, norm=nn.Identity(), order="pre", dropout_p=0.0).tolist()
    [3.0, 3.0]
    """
    if order == "pre":
        return x + dropout(sublayer(norm(x)), dropout_p, training=dropout_p > 0)
    return norm(x + dropout(sublayer(x), dropout_p, training=dropout_p > 0))
