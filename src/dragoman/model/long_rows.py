"""Matrices laid out in memory for products with few rows, as decoding on a CPU has them.

``x Wᵀ`` of a few dozen rows x reads all of W and does little else with it. Where W lies in memory
as (out, in), the order in which PyTorch keeps it, the library that multiplies turns it round every
time; where it lies as (in, out), it need not. The numbers and the shape stay what they are, only
the strides change. Training keeps PyTorch's own order.
"""

from __future__ import annotations

from typing import TypeVar

from torch import nn

Model = TypeVar("Model", bound=nn.Module)


def long_rows(model: Model) -> Model:
    """The model with the matrices of its linear maps laid out as (in, out).

    >>> linear = long_rows(nn.Linear(3, 2))
    >>> linear.weight.shape, linear.weight.stride()
    (torch.Size([2, 3]), (1, 2))
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.weight.data = module.weight.data.t().contiguous().t()
    return model
