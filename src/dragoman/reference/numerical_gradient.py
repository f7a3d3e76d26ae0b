"""The slope of anything, by trying: slow, without any calculus, and so a judge of the gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dragoman.reference.parameters import Array


def numerical_gradient(function: Callable[[], float], x: Array, *, step: float = 1e-5) -> Array:
    """(f(x + h) − f(x − h)) / 2h for every number in x; ``function`` takes nothing and reads x.

    x is changed in place, one number at a time, and is afterwards what it was. Use float64.

    >>> x = np.array([3.0, 4.0])
    >>> numerical_gradient(lambda: float((x**2).sum()), x).round(6)
    array([6., 8.])
    """
    gradient = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        value = x[at]
        x[at] = value + step
        above = function()
        x[at] = value - step
        below = function()
        x[at] = value
        gradient[at] = (above - below) / (2 * step)
    return gradient
