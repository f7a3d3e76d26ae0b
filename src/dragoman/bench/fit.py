"""How fast something grows: the exponent of y = a x^b, by least squares on logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 2


@dataclass(frozen=True)
class Growth:
    """y = factor * x ** exponent, fitted to points from ``low`` to ``high``.

    >>> growth = fit_growth([1, 2, 4], [3, 12, 48])
    >>> round(growth.factor, 6), round(growth.exponent, 6), round(growth.explained, 6)
    (3.0, 2.0, 1.0)
    >>> round(growth.at(10), 6)
    300.0
    """

    factor: float
    exponent: float
    explained: float  # share of the variance of log y, R²: near 1 where it is a power of x
    low: float
    high: float

    def at(self, x: float) -> float:
        """What the fit expects for x."""
        return self.factor * x**self.exponent


def fit_growth(xs: Sequence[float], ys: Sequence[float]) -> Growth | None:
    """The fit to these points; None where fewer than two of them are above 0."""
    known = [(x, y) for x, y in zip(xs, ys, strict=True) if x > 0 and y > 0]
    if len({x for x, _ in known}) < FEWEST:
        return None
    points = [(math.log(x), math.log(y)) for x, y in known]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    var_x = sum((x - mean_x) ** 2 for x, _ in points)
    var_y = sum((y - mean_y) ** 2 for _, y in points)
    exponent = sum((x - mean_x) * (y - mean_y) for x, y in points) / var_x
    explained = 1.0 if var_y == 0 else exponent**2 * var_x / var_y
    return Growth(
        factor=math.exp(mean_y - exponent * mean_x),
        exponent=exponent,
        explained=explained,
        low=min(x for x, _ in known),
        high=max(x for x, _ in known),
    )
