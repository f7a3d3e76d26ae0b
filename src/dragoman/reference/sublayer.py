"""What stands around every part of a layer (3.1): a residual connection and a layer norm.

The residual lets each part say what to change instead of saying everything again, and gives the
gradient a way down that passes no weights. Dropout (5.4) would act on the part's output; the twin
computes what a trained model computes, so it has none.
"""

from __future__ import annotations

from collections.abc import Callable

from dragoman.config import Norm
from dragoman.reference.layer_norm import layer_norm
from dragoman.reference.parameters import Array, Params, part


def residual(
    params: Params, x: Array, *, name: str, sublayer: Callable[[Params, Array], Array], order: Norm
) -> Array:
    """LayerNorm(x + f(x)) for ``post`` (the paper), x + f(LayerNorm(x)) for ``pre``.

    f is ``sublayer`` with the parameters called ``name``; its norm is called ``{name}_norm``.

    >>> import numpy as np
    >>> params = {"double_norm.weight": np.ones(2), "double_norm.bias": np.zeros(2)}
    >>> double = lambda params, x: 2 * x
    >>> x = np.array([3.0, 5.0])
    >>> residual(params, x, name="double", sublayer=double, order="post").round(3).tolist()
    [-1.0, 1.0]
    >>> residual(params, x, name="double", sublayer=double, order="pre").round(3).tolist()
    [1.0, 7.0]
    """
    own, own_norm = part(params, name), part(params, f"{name}_norm")
    if order == "post":
        return layer_norm(own_norm, x + sublayer(own, x))
    return x + sublayer(own, layer_norm(own_norm, x))
