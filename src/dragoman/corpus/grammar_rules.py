"""Rules of a grammar as values: each knows how many derivations it has and can draw one.

``Pick`` chooses one of several items, ``Mix`` one of several rules, ``Build`` applies a function to
one result of each of its parts. Counts are exact: sums over choices, products over parts.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, product
from math import prod
from random import Random
from typing import Generic, Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Rule(Protocol[T_co]):
    """Anything that can be counted, drawn from and listed.

    >>> rule: Rule[str] = Pick(["a", "b"])
    >>> rule.count, list(rule.every())
    (2, ['a', 'b'])
    """

    @property
    def count(self) -> int:
        """How many derivations there are."""

    def draw(self, rng: Random) -> T_co:
        """One derivation, by the weights of the choices."""

    def every(self) -> Iterator[T_co]:
        """All derivations, one after the other; for small rules only."""


class Pick(Generic[T]):
    """One of the items, with equal or given weights.

    >>> Pick("abc", [1, 0, 0]).draw(Random(1))
    'a'
    """

    def __init__(self, items: Sequence[T], weights: Sequence[float] | None = None) -> None:
        if not items:
            raise ValueError("a choice needs at least one item")
        self.items = tuple(items)
        self.count = len(self.items)
        self._steps = _steps(weights) if weights else None

    def draw(self, rng: Random) -> T:
        if self._steps is None:
            return self.items[int(rng.random() * self.count)]
        return self.items[bisect(self._steps, rng.random(), 0, self.count - 1)]

    def every(self) -> Iterator[T]:
        return iter(self.items)


class Mix(Generic[T]):
    """One of several rules; their results must not overlap, or the count would be too high.

    >>> Mix([(1, Pick("ab")), (3, Pick("xyz"))]).count
    5
    """

    def __init__(self, alternatives: Sequence[tuple[float, Rule[T]]]) -> None:
        if not alternatives:
            raise ValueError("a mixture needs at least one rule")
        self.rules = tuple(rule for _, rule in alternatives)
        self._steps = _steps([weight for weight, _ in alternatives])
        self._last = len(self.rules) - 1

    @cached_property
    def count(self) -> int:
        return sum(rule.count for rule in self.rules)

    def draw(self, rng: Random) -> T:
        return self.rules[bisect(self._steps, rng.random(), 0, self._last)].draw(rng)

    def every(self) -> Iterator[T]:
        for rule in self.rules:
            yield from rule.every()


class Build(Generic[T]):
    """What ``make`` returns for one result of each part.

    >>> pair = Build(lambda a, b: a + b, Pick("ab"), Pick("xyz"))
    >>> pair.count, list(pair.every())[:2]
    (6, ['ax', 'ay'])
    """

    def __init__(self, make: Callable[..., T], *parts: Rule[object]) -> None:
        self.make = make
        self.parts = parts

    @cached_property
    def count(self) -> int:
        return prod(part.count for part in self.parts)

    def draw(self, rng: Random) -> T:
        return self.make(*[part.draw(rng) for part in self.parts])

    def every(self) -> Iterator[T]:
        for values in product(*(list(part.every()) for part in self.parts)):
            yield self.make(*values)


class Later(Generic[T]):
    """A rule that is made when it is first needed; most of a grammar is, for a few sentences.

    >>> Later(lambda: Pick("ab")).count
    2
    """

    def __init__(self, make: Callable[[], Rule[T]]) -> None:
        self.make = make

    @cached_property
    def rule(self) -> Rule[T]:
        return self.make()

    @property
    def count(self) -> int:
        return self.rule.count

    def draw(self, rng: Random) -> T:
        return self.rule.draw(rng)

    def every(self) -> Iterator[T]:
        return self.rule.every()


def one(item: T) -> Pick[T]:
    """The rule with a single derivation.

    >>> one("es").count
    1
    """
    return Pick((item,))


def _steps(weights: Sequence[float]) -> list[float]:
    total = float(sum(weights))
    return [step / total for step in accumulate(weights)]


NOTHING: Rule[None] = one(None)
