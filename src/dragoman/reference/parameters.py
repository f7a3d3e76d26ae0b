"""Parameters as a flat dict of arrays, ``"encoder.layers.0.feed_forward.w1.weight"`` and so on.

A function gets only the part it works with, under short names: ``feed_forward`` is handed
``{"w1.weight": …, "w1.bias": …, "w2.weight": …, "w2.bias": …}`` and need not know where it stands.
Gradients travel the other way: a block returns short names, and whoever called it puts its own
name before them.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
Params = dict[str, Array]
Record = dict[str, Array]  # attention weights (B, H, L, M) by name: "encoder.0.self", …


def part(params: Params, name: str) -> Params:
    """The parameters below ``name``, with the name cut off.

    >>> sorted(part({"w1.weight": 1, "w1.bias": 2, "w2.weight": 3}, "w1"))
    ['bias', 'weight']
    """
    start = name + "."
    return {key[len(start) :]: value for key, value in params.items() if key.startswith(start)}


def under(name: str, params: Params) -> Params:
    """The same parameters with ``name`` put before each: the way back from :func:`part`.

    >>> list(under("w1", {"weight": 1, "bias": 2}))
    ['w1.weight', 'w1.bias']
    """
    return {f"{name}.{key}": value for key, value in params.items()}


def add_up(*gradients: Params) -> Params:
    """All gradients in one dict; those of one name are summed, as for a weight used in many places.

    >>> add_up({"a": 1, "b": 2}, {"b": 30})
    {'a': 1, 'b': 32}
    """
    total: Params = {}
    for grads in gradients:
        for name, value in grads.items():
            total[name] = total[name] + value if name in total else value
    return total


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """x Wᵀ + b: every output is a weighted sum of the inputs, (…, in) -> (…, out).

    >>> import numpy as np
    >>> linear(np.array([1.0, 2.0]), np.array([[3.0, 4.0]]), np.array([0.5]))
    array([11.5])
    """
    out = x @ weight.T
    return out if bias is None else out + bias
