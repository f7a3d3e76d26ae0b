"""How many lines and tokens are exactly right: the measure for tasks with one right answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Accuracy:
    """Shares between 0 and 1."""

    exact_match: float
    token_accuracy: float


def accuracy(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> Accuracy:
    """The share of lines that equal a reference, and of tokens that stand in their right place.

    Tokens are what spaces separate. Where output and reference differ in length, every place of the
    longer one counts, so that what is missing and what is too much are both errors. Of several
    references the nearest counts. Spaces at the ends of a line are no part of it.

    >>> accuracy(["1 2 3", "4 5"], [["1 2 3", "4 6 5"]])
    Accuracy(exact_match=0.5, token_accuracy=0.6666666666666666)
    """
    n_equal = n_right = n_places = 0
    for hypothesis, *candidates in zip(hypotheses, *references, strict=True):
        n_equal += any(hypothesis.strip() == reference.strip() for reference in candidates)
        found = [_places(hypothesis.split(), reference.split()) for reference in candidates]
        right, places = max(found, key=lambda counts: counts[0] / max(1, counts[1]))
        n_right, n_places = n_right + right, n_places + places
    return Accuracy(
        exact_match=n_equal / max(1, len(hypotheses)),
        token_accuracy=n_right / n_places if n_places else 1.0,
    )


def _places(hypothesis: list[str], reference: list[str]) -> tuple[int, int]:
    """How many places agree, and how many there are."""
    right = sum(a == b for a, b in zip(hypothesis, reference, strict=False))
    return right, max(len(hypothesis), len(reference))
