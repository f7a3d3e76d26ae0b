"""``bench scaling``: time and memory against length, batch, vocabulary and size of the model.

One of these grows at a time, all others stay as they are in ``START``. Each point is a process of
its own, so that its memory is its own, and the points of a curve take turns. A curve is fitted
twice: over all its points, and over the upper half, where what grows outweighs what does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dragoman.bench.contest import Outcome, hold
from dragoman.bench.fit import Growth, fit_growth
from dragoman.bench.ours import Dragoman
from dragoman.bench.peer import Peer
from dragoman.bench.side_by_side import Spread, significant
from dragoman.bench.text import IdPair
from dragoman.bench.work import Kind, Work
from dragoman.config import ModelConfig
from dragoman.errors import ConfigError

HEAD = 32  # width of a head, whatever the width of the model


@dataclass(frozen=True)
class Setup:
    """One point: the size of the sentences and of the model."""

    length: int = 24  # pieces of each side
    batch: int = 32  # sentences
    vocabulary: int = 8000
    d_model: int = 128
    layers: int = 4

    @property
    def shape(self) -> ModelConfig:
        """The model; its feed-forward network is twice as wide, as that of ``tiny``."""
        return ModelConfig(
            d_model=self.d_model,
            n_heads=max(1, self.d_model // HEAD),
            n_layers=self.layers,
            d_ff=2 * self.d_model,
            vocab_size=self.vocabulary,
        )

    def work(self, kind: Kind) -> Work:
        """Training on, or decoding of, one batch of random ids without padding."""
        ids = np.random.default_rng(1).integers(4, self.vocabulary, (2, self.batch, self.length))
        src, tgt = ids.tolist()
        batch: list[IdPair] = list(zip(src, tgt, strict=True))
        return Work(kind, self.shape, [batch], max_tokens=self.length + 1)


START = Setup()
AXES: dict[str, tuple[int, ...]] = {
    "length": (8, 16, 32, 64, 128, 256),
    "batch": (1, 2, 4, 8, 16, 32, 64),
    "vocabulary": (1000, 2000, 4000, 8000, 16_000, 32_000),
    "d_model": (64, 128, 256, 512),
    "layers": (1, 2, 4, 8),
}


@dataclass(frozen=True)
class Curve:
    """Seconds and megabytes at each value of one axis; what could not be had is 0."""

    kind: Kind
    axis: str
    values: tuple[int, ...]
    seconds: tuple[float, ...]
    memory_mb: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """The curve by its JSON keys, with its fits."""
        return {
            "kind": self.kind,
            "axis": self.axis,
            "values": list(self.values),
            "seconds": [significant(each) for each in self.seconds],
            "memory_mb": [round(each, 1) for each in self.memory_mb],
            "time_growth": growth_of(self.values, self.seconds),
            "memory_growth": growth_of(self.values, self.memory_mb),
        }


def measure_scaling(
    *,
    kinds: Sequence[Kind] = ("train", "decode"),
    axes: Sequence[str] = tuple(AXES),
    points: int | None = None,
    start: Setup = START,
    repeats: int = 3,
    threads: int = 1,
    peer: Peer | None = None,
    on_curve: Callable[[str], None] = lambda name: None,
) -> list[Curve]:
    """A curve for each kind of work and each axis; ``points`` takes the first so many of each."""
    unknown = [axis for axis in axes if axis not in AXES]
    if unknown:
        raise ConfigError(f"no axis is called {', '.join(unknown)}; there are: {', '.join(AXES)}")
    curves = []
    for kind in kinds:
        for axis in axes:
            on_curve(f"{kind}, {axis}")
            values = AXES[axis][:points]
            setups = [replace(start, **{axis: value}) for value in values]
            entries = {
                str(value): (peer or Dragoman(), setup.work(kind))
                for value, setup in zip(values, setups, strict=True)
            }
            outcomes = hold(entries, repeats=repeats, threads=threads)
            curves.append(make_curve(kind, axis, values=values, outcomes=list(outcomes.values())))
    return curves


def make_curve(
    kind: Kind, axis: str, *, values: Sequence[int], outcomes: Sequence[Outcome]
) -> Curve:
    """What came of the points of one curve."""
    return Curve(
        kind,
        axis,
        tuple(values),
        tuple(Spread.of(out.seconds).median if out.has_run else 0.0 for out in outcomes),
        tuple(0.0 if out.memory is None else out.memory.growth_mb for out in outcomes),
    )


def fits_of(xs: Sequence[float], ys: Sequence[float]) -> dict[str, Growth]:
    """The fit over all points, and over the upper half of them, as far as there are enough.

    >>> sorted(fits_of([1, 2, 4, 8], [1, 2, 4, 8]))
    ['all', 'upper half']
    """
    half = len(xs) // 2
    found = {"all": fit_growth(xs, ys), "upper half": fit_growth(xs[half:], ys[half:])}
    return {name: growth for name, growth in found.items() if growth is not None}


def growth_of(xs: Sequence[float], ys: Sequence[float]) -> dict[str, Any]:
    """The fits by their JSON keys."""
    return {
        name: {
            "exponent": round(growth.exponent, 4),
            "explained": round(growth.explained, 4),
            "from": significant(growth.low),
            "to": significant(growth.high),
        }
        for name, growth in fits_of(xs, ys).items()
    }
