"""The learning rate against the step (5.3): up in a straight line, down with 1/√step."""

from __future__ import annotations


def noam(step: int, *, d_model: int, warmup_steps: int, factor: float = 1.0) -> float:
    """factor · d_model^−0.5 · min(step^−0.5, step · warmup_steps^−1.5), steps counted from 1.

    >>> [round(noam(step, d_model=64, warmup_steps=100), 4) for step in (50, 100, 400)]
    [0.0063, 0.0125, 0.0063]
    """
    return float(factor * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))
