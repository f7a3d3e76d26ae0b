"""Where pairs come from besides files: built-in tasks, and slices held out of a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from dragoman.corpus.hashes import CHUNK, Hashes, hash_pairs
from dragoman.corpus.pair import Pair
from dragoman.errors import DataError

KEPT_PAIRS = 200_000  # of a built-in task; more than these are made anew each time

Split = Literal["train", "valid", "test", "unseen"]


class Source(Protocol):
    """Pairs, read anew at each call, and the files behind them; its repr says the rest."""

    def pairs(self) -> Iterable[Pair]: ...
    def files(self) -> Sequence[Path]: ...


@dataclass(frozen=True)
class TaskSource:
    """Pairs of a built-in task; made when they are asked for, the same each time.

    >>> source = TaskSource("copy", 2, split="train", seed=1)
    >>> [pair.src == pair.tgt for pair in source.pairs()]
    [True, True]
    """

    task: str
    n_pairs: int
    split: Split
    seed: int
    options: tuple[tuple[str, int | str | bool], ...] = ()

    def pairs(self) -> Iterable[Pair]:
        return _kept(self) if self.n_pairs <= KEPT_PAIRS else self.make()

    def make(self) -> Iterator[Pair]:
        """The pairs, one after the other."""
        from dragoman.corpus.tasks import generate

        made = generate(
            self.task, self.n_pairs, split=self.split, seed=self.seed, **dict(self.options)
        )
        place = f"{self.task}:{self.split}"
        for number, example in enumerate(made, start=1):
            yield Pair(example.src, example.tgt, place, number)

    def files(self) -> list[Path]:
        return []


@lru_cache(maxsize=4)
def _kept(source: TaskSource) -> tuple[Pair, ...]:
    """The pairs of a task, made once: a run reads them several times."""
    return tuple(source.make())


@dataclass(frozen=True)
class Slice:
    """The pairs of a source on one side of a line drawn through their hashes.

    Equal pairs have equal hashes, so that the two sides of the line share none.
    """

    source: Source
    seed: int
    limit: int  # hashes below it are held out
    is_held_out: bool

    def pairs(self) -> Iterator[Pair]:
        pairs = iter(self.source.pairs())
        while chunk := list(islice(pairs, CHUNK)):
            below = _mixed(hash_pairs(chunk), self.seed) < np.uint64(self.limit)
            yield from (p for p, b in zip(chunk, below, strict=True) if bool(b) == self.is_held_out)

    def files(self) -> Sequence[Path]:
        return self.source.files()


def hold_out(source: Source, n_wanted: int | None, *, seed: int) -> tuple[Slice, Slice, int]:
    """Training and validation slices of a source, and how many distinct pairs are held out.

    Without a wish one pair in fifty is held out, at least 10 and at most 1,000.
    """
    hashes = np.unique(_mixed(_all_hashes(source), seed))
    n = min(1000, max(10, hashes.size // 50)) if n_wanted is None else n_wanted
    if n >= hashes.size:
        raise DataError(
            f"{hashes.size:,} different pairs are too few to hold {n:,} of them out for validation."
            "\n  Give --valid-src and --valid-tgt, or a smaller data.valid_size."
        )
    limit = int(hashes[n])
    return Slice(source, seed, limit, False), Slice(source, seed, limit, True), n


def _all_hashes(source: Source) -> Hashes:
    pairs = iter(source.pairs())
    found = [np.empty(0, dtype=np.uint64)]
    while chunk := list(islice(pairs, CHUNK)):
        found.append(hash_pairs(chunk))
    return np.concatenate(found)


def _mixed(hashes: Hashes, seed: int) -> Hashes:
    """The hashes in an order of their own for each seed (the finalizer of MurmurHash3)."""
    x = hashes ^ np.uint64((seed * 0x9E3779B97F4A7C15) % 2**64)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = (x ^ (x >> np.uint64(33))) * np.uint64(factor)
    return x ^ (x >> np.uint64(33))
