"""The learning rate against the step (5.3): it rises for ``warmup_steps``, then falls.

noam           factor · d_model^-½ · min(step^-½, step · warmup^-1.5)          (the paper)
inverse_sqrt   the same curve, given by its peak
cosine, linear, exponential    from the peak down to a share of it at the last step
constant       the peak
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dragoman.config import ScheduleName, TrainConfig

NOAM_WARMUP = 4000
LOWEST_SHARE = 0.01  # where an exponential, which never reaches 0, is aimed when told to reach 0


def peak_rate(config: TrainConfig, d_model: int) -> float:
    """The highest learning rate; unless given, that of the paper's schedule at this width.

    >>> round(peak_rate(TrainConfig(schedule="cosine"), 512), 6)
    0.000699
    """
    if config.schedule == "noam":
        return float(
            (config.learning_rate or 1.0) * (d_model * max(1, config.warmup_steps)) ** -0.5
        )
    return config.learning_rate or float((d_model * NOAM_WARMUP) ** -0.5)


def learning_rate(step: int, config: TrainConfig, *, d_model: int, total_steps: int) -> float:
    """The learning rate of update ``step`` = 1, 2, … of ``total_steps``.

    >>> config = TrainConfig(schedule="noam", warmup_steps=4000)
    >>> rates = [learning_rate(s, config, d_model=512, total_steps=9999) for s in (1, 4000, 16000)]
    >>> [f"{rate:.2e}" for rate in rates]
    ['1.75e-07', '6.99e-04', '3.49e-04']
    """
    peak, warmup = peak_rate(config, d_model), config.warmup_steps
    if step < warmup:
        return peak * step / warmup
    span = max(1, total_steps - warmup)
    progress = min(1.0, (step - warmup) / span)
    return peak * _FALLS[config.schedule](
        step, max(1, warmup), progress, config.final_learning_rate
    )


# After warm-up: the share of the peak, from step, warmup, progress in [0, 1] and the last share.
_FALLS: dict[ScheduleName, Callable[[int, int, float, float], float]] = {
    "noam": lambda step, warmup, progress, last: math.sqrt(warmup / step),
    "inverse_sqrt": lambda step, warmup, progress, last: math.sqrt(warmup / step),
    "cosine": lambda step, warmup, progress, last: (
        last + (1 - last) * (1 + math.cos(math.pi * progress)) / 2
    ),
    "linear": lambda step, warmup, progress, last: 1 - (1 - last) * progress,
    "exponential": lambda step, warmup, progress, last: (last or LOWEST_SHARE) ** progress,
    "constant": lambda step, warmup, progress, last: 1.0,
}
