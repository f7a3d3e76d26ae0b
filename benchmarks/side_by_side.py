"""Candidates timed in turn, again and again, so that a busy machine slows all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Seconds of one candidate: the median of its repeats, and their spread."""

    median: float
    low: float
    high: float


def ratios(
    candidates: Mapping[str, Callable[[], object]], ours: str, *, repeats: int, warmup: int = 2
) -> tuple[dict[str, Timing], dict[str, list[float]]]:
    """Timings, and how many times faster ``ours`` was than each other, round by round."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(warmup + repeats):
        for name, run in candidates.items():
            started = time.perf_counter()
            run()
            if number >= warmup:
                seconds[name].append(time.perf_counter() - started)
    timings = {
        name: Timing(statistics.median(times), min(times), max(times))
        for name, times in seconds.items()
    }
    faster = {
        name: [theirs / mine for theirs, mine in zip(times, seconds[ours], strict=True)]
        for name, times in seconds.items()
        if name != ours
    }
    return timings, faster
