"""Contestants timed in turn, again and again, so that a busy machine slows all of them alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol


class Runner(Protocol):
    """Something that does its work once, and says how many seconds that took."""

    def run(self) -> float: ...


@dataclass(frozen=True)
class Spread:
    """The median of repeated measurements, and how far they went apart.

    >>> Spread.of([3.0, 1.0, 2.0])
    Spread(median=2.0, low=1.0, high=3.0)
    """

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def to_dict(self, digits: int = 4) -> dict[str, float]:
        """The three numbers by name, to so many significant digits."""
        return {name: significant(value, digits) for name, value in asdict(self).items()}


def take_turns(
    runners: Mapping[str, Runner],
    *,
    repeats: int,
    warmup: int = 1,
    on_turn: Callable[[int], None] = lambda n_done: None,
) -> dict[str, list[float]]:
    """Seconds of each runner, round by round: in a round each has one turn, in the same order.

    The first ``warmup`` rounds are not counted. ``on_turn`` hears the number of turns done.

    >>> class Fixed:
    ...     def run(self) -> float:
    ...         return 0.5
    >>> take_turns({"a": Fixed()}, repeats=2)
    {'a': [0.5, 0.5]}
    """
    seconds: dict[str, list[float]] = {name: [] for name in runners}
    n_done = 0
    for number in range(warmup + repeats):
        for name, runner in runners.items():
            took = runner.run()
            if number >= warmup:
                seconds[name].append(took)
            n_done += 1
            on_turn(n_done)
    return seconds


def times_faster(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """How many times faster we were, round by round: above 1 we won.

    >>> times_faster([1.0, 2.0, 1.0], [2.0, 3.0, 4.0])
    Spread(median=2.0, low=1.5, high=4.0)
    """
    return Spread.of([their / our for our, their in zip(ours, theirs, strict=True)])


def significant(value: float, digits: int = 4) -> float:
    """The number to so many significant digits.

    >>> significant(1234.567), significant(0.00012345678)
    (1235.0, 0.0001235)
    """
    return float(f"{value:.{digits}g}")
